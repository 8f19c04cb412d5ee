#!/bin/sh
# Installs the packages and makes .next/, which server.ts serves; where nothing has changed, that is a moment.
set -eu
cd "$(dirname "$0")"
PATH="$PWD/../../node_modules/.bin:$PWD/../../.tools/bin:$PATH" # the pinned ones, where they are installed

missing() {
  echo "stacks/next needs $1" >&2
  exit 69
}

command -v bun >/dev/null || missing "Bun 1.4, which ./bench.sh installs: https://bun.sh"
release=$(node --version 2>/dev/null || true) # e.g. v26.10.0
major=${release#v}
[ "$(printf '%d' "${major%%.*}" 2>/dev/null)" -ge 24 ] || missing "Node.js 24 or later, which ./bench.sh installs: https://nodejs.org"
[ -d ../../node_modules ] || missing "the packages of the repository: bun install"

bun install --frozen-lockfile --silent
sources="app lib package.json bun.lock next.config.js tsconfig.json ../../shared"
# shellcheck disable=SC2086 # a list of files
if [ ! -f .next/made ] || [ -n "$(find $sources -newer .next/made)" ]; then
  NEXT_TELEMETRY_DISABLED=1 node_modules/.bin/next build
  touch .next/made
fi
