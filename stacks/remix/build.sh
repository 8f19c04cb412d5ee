#!/bin/sh
# Installs the packages and makes build/, which server.ts serves, unless nothing has changed.
set -eu
cd "$(dirname "$0")"
# shellcheck source=stacks/toolchain.sh
. ../toolchain.sh

packages
sources="app server package.json bun.lock react-router.config.ts tsconfig.json vite.config.ts ../../shared"
# shellcheck disable=SC2086 # a list of files
if [ ! -f build/made ] || [ -n "$(find $sources -newer build/made)" ]; then
  node_modules/.bin/react-router typegen
  node_modules/.bin/tsc
  node_modules/.bin/react-router build
  touch build/made
fi
