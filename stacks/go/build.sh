#!/bin/sh
# Builds build/server; go build itself looks whether anything has changed.
set -eu
cd "$(dirname "$0")"

release=$(go env GOVERSION 2>/dev/null || true) # e.g. go1.26.8
minor=${release#go1.}
minor=${minor%%[!0-9]*}
if [ "${minor:-0}" -lt 26 ] || ! command -v "$(go env CC)" >/dev/null; then
  echo "stacks/go needs Go 1.26 or later (https://go.dev/dl) and a C compiler (apt-get install gcc libc6-dev)" >&2
  exit 69
fi
CGO_ENABLED=1 go build -buildvcs=false -o build/server .
