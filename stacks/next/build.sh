#!/bin/sh
# Installs the packages and builds .next/, which server.ts serves, unless nothing has changed.
set -eu
cd "$(dirname "$0")"
# shellcheck source=stacks/toolchain.sh
. ../toolchain.sh

packages
sources="app lib package.json bun.lock next.config.js tsconfig.json ../../shared"
# shellcheck disable=SC2086 # a list of files
if [ ! -f .next/made ] || [ -n "$(find $sources -newer .next/made)" ]; then
  export NEXT_TELEMETRY_DISABLED=1
  node_modules/.bin/next build
  touch .next/made
fi
