#!/bin/sh
# Builds build/server; go build itself looks whether anything has changed.
set -eu
cd "$(dirname "$0")"
# shellcheck source=stacks/toolchain.sh
. ../toolchain.sh

release=$(go env GOVERSION 2>/dev/null || true) # e.g. go1.26.8
minor=${release#go1.}
minor=${minor%%[!0-9]*}
[ "${minor:-0}" -ge 26 ] || missing "Go 1.26 or later: https://go.dev/dl"
command -v "$(go env CC)" >/dev/null || missing "a C compiler: apt-get install gcc libc6-dev"

CGO_ENABLED=1 go build -buildvcs=false -o build/server .
