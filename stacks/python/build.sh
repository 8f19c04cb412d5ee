#!/bin/sh
# Installs what requirements.txt locks into .venv, unless it is there already.
set -eu
cd "$(dirname "$0")"

python=$(command -v python3.11 || command -v python3) || python=false
header=/usr/include/ev.h
[ -f "$header" ] || header=$(find /usr/include/libev /usr/local/include /opt/homebrew/include -name ev.h 2>/dev/null | head -n 1)
if ! "$python" -c 'import ensurepip, sys, sysconfig, pathlib
sys.exit(sys.version_info[:2] != (3, 11) or not pathlib.Path(sysconfig.get_path("include"), "Python.h").exists())' 2>/dev/null ||
  ! command -v cc >/dev/null || [ -z "$header" ]; then
  echo "stacks/python needs Python 3.11 with venv, a C compiler and libev: apt-get install python3-venv python3-dev gcc libc6-dev libev-dev" >&2
  exit 69
fi

lock="$("$python" -VV) $(cksum requirements.txt)"
if [ "$lock" = "$(cat .venv/lock 2>/dev/null)" ]; then exit; fi
"$python" -m venv --clear .venv
.venv/bin/pip install -qq --disable-pip-version-check --no-input --require-hashes -r requirements.txt
printf '%s\n' "$lock" >.venv/lock
