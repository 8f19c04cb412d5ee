#!/bin/sh
# Replaces itself with the server that SERVER names; package.json and the image start servers by this.
cd "$(dirname "$0")/.." || exit 1
PATH="$PWD/node_modules/.bin:$PATH" # the pinned node; the image has its own
export NODE_ENV="${NODE_ENV:-production}" # as the frameworks recommend for deployment

command=$(awk -F '"' -v server="${SERVER-}" '$2 == server { print $4 }' servers/matrix.json)
if [ -z "$command" ]; then
  echo "SERVER is \"${SERVER-}\": set it to one of$(awk -F '"' 'NF > 3 { printf " %s", $2 }' servers/matrix.json)" >&2
  exit 1
fi
# shellcheck disable=SC2086 # a command and its arguments
exec $command
