#!/bin/sh
# Builds build/server; go build itself looks whether anything has changed.
set -eu
cd "$(dirname "$0")"

missing() {
  echo "stacks/go needs $1" >&2
  exit 69
}

release=$(go env GOVERSION 2>/dev/null || true) # e.g. go1.26.8
minor=${release#go1.}
minor=${minor%%[!0-9]*}
[ "${minor:-0}" -ge 26 ] || missing "Go 1.26 or later: https://go.dev/dl"
command -v "$(go env CC)" >/dev/null || missing "a C compiler: apt-get install gcc libc6-dev"

if [ ! -f build/openapi.json ] || [ -n "$(find openapi.ts ../../shared -newer build/openapi.json)" ]; then
  command -v bun >/dev/null || missing "bun 1.4, with the packages of the repository: https://bun.sh, then bun install"
  bun openapi.ts
fi
CGO_ENABLED=1 go build -buildvcs=false -o build/server .
