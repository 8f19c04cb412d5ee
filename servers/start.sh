#!/bin/sh
# Starts the server that SERVER names; `bun start` and the image run this script.
# It builds a server of stacks/ first, unless its argument is "built".
cd "$(dirname "$0")/.." || exit 1
PATH="$PWD/node_modules/.bin:$PATH" # the pinned node; the image has no node in this folder
export NODE_ENV="${NODE_ENV:-production}" # the frameworks' recommendation for deployment

command=$(awk -F '"' -v server="${SERVER-}" '$2 == server { print $4 }' servers/matrix.json)
if [ -z "$command" ] && [ -f stacks/stacks.json ]; then
  command=$(awk -F '"' -v server="${SERVER-}" '/^  "/ && $2 == server { found = 1 } found && $2 == "command" { print $4; exit }' stacks/stacks.json)
  folder=$(printf '%s' "$command" | grep -o 'stacks/[^/ ]*' | head -1)
  [ -z "$command" ] || [ "${1-}" = built ] || sh "$folder/build.sh" >&2 || exit 1
fi
if [ -z "$command" ]; then
  echo "SERVER is \"${SERVER-}\": set it to one of$(awk -F '"' 'NF > 3 { printf " %s", $2 }' servers/matrix.json)" >&2
  exit 1
fi
# shellcheck disable=SC2086 # a command and its arguments
exec $command
