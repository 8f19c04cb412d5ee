#!/bin/sh
# `bench` of the Docker image: ./bench.sh as an ordinary user, whose results go to the folder mounted at /results.
set -eu
fail() { echo "$*" >&2; exit 1; }
can_write() { "$@" sh -c 'touch /results/.new && rm /results/.new' 2>/dev/null; }
cd /results
export HOME=/tmp
if [ "$(id -u)" -ne 0 ]; then
  can_write env || fail "user $(id -u) cannot write to the folder mounted at /results: leave out --user"
  exec /app/bench.sh "$@"
fi
# With Docker Desktop every user may write. Else the owner of the folder measures.
if can_write setpriv --reuid node --regid node --clear-groups; then
  owner=node
elif [ "$(stat -c %u /results)" -ne 0 ]; then
  owner=$(stat -c %u /results)
elif grep -q '^ *0 *[1-9]' /proc/self/uid_map; then
  exec /app/bench.sh "$@" # an engine without root: outside the container, this user is the one who called docker
else
  # Docker makes a missing folder as root.
  [ -z "$(ls -A /results)" ] || fail "the folder mounted at /results belongs to root and has files: mount another folder"
  owner=node
  chown node /results 2>/dev/null || :
fi
can_write setpriv --reuid "$owner" --regid "$owner" --clear-groups ||
  fail "its owner (user $(stat -c %u /results)) cannot write to the folder mounted at /results: make it writable, or mount another folder"
exec setpriv --reuid "$owner" --regid "$owner" --clear-groups /app/bench.sh "$@"
