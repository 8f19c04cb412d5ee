#!/bin/sh
# Installs the packages of requirements.txt into .venv, unless they are there already.
set -eu
cd "$(dirname "$0")"
# shellcheck source=stacks/toolchain.sh
. ../toolchain.sh
packages="Python 3.11 with venv and headers, a C compiler and libev: \
apt-get install python3-venv python3-dev gcc libc6-dev libev-dev"
# Prefers Debian's Python, because it is compiled with profile-guided optimization; pyenv's by default is not.
python=$(command -v /usr/bin/python3.11 || command -v python3.11 || command -v python3) || missing "$packages"
"$python" -c 'import ensurepip, sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null || missing "$packages"
include=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
# bjoern looks for libev in the other two folders.
printf '#include <Python.h>\n#include <ev.h>\n' |
  cc -E "-I$include" -I/usr/include/libev -I/opt/homebrew/include - >/dev/null 2>&1 || missing "$packages"

lock="$("$python" -VV) $(cksum requirements.txt)"
if [ "$lock" = "$(cat .venv/lock 2>/dev/null)" ]; then exit; fi
"$python" -m venv --clear .venv
.venv/bin/pip install -qq --disable-pip-version-check --no-input --no-deps -r requirements.txt
printf '%s\n' "$lock" >.venv/lock
