#!/bin/sh
# Installs what requirements.txt locks into .venv, unless it is there already.
set -eu
cd "$(dirname "$0")"
# shellcheck source=stacks/toolchain.sh
. ../toolchain.sh
packages="Python 3.11 with venv and headers, a C compiler and libev: \
apt-get install python3-venv python3-dev gcc libc6-dev libev-dev"
# Debian's is compiled with profile-guided optimization, which pyenv and others leave out by default.
python=$(command -v /usr/bin/python3.11 || command -v python3.11 || command -v python3) || missing "$packages"
"$python" -c 'import ensurepip, sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null || missing "$packages"
include=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
# The other two folders are those where bjoern looks for libev.
printf '#include <Python.h>\n#include <ev.h>\n' |
  cc -E "-I$include" -I/usr/include/libev -I/opt/homebrew/include - >/dev/null 2>&1 || missing "$packages"

lock="$("$python" -VV) $(cksum requirements.txt)"
if [ "$lock" = "$(cat .venv/lock 2>/dev/null)" ]; then exit; fi
"$python" -m venv --clear .venv
.venv/bin/pip install -qq --disable-pip-version-check --no-input --no-deps -r requirements.txt
printf '%s\n' "$lock" >.venv/lock
