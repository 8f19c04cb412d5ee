#!/bin/sh
# Replaces itself with the server that SERVER names; package.json and the image start servers by this.
# One of stacks/ is built first, unless the argument "built" says that it is.
cd "$(dirname "$0")/.." || exit 1
PATH="$PWD/node_modules/.bin:$PATH" # the pinned node; the image has its own
export NODE_ENV="${NODE_ENV:-production}" # as the frameworks recommend for deployment

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
