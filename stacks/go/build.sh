#!/bin/sh
# Builds build/server; go build itself checks whether anything has changed.
set -eu
cd "$(dirname "$0")"
# shellcheck source=stacks/toolchain.sh
. ../toolchain.sh

export GOTOOLCHAIN=auto # go downloads the release that go.mod names; an image may have set "local"
command -v go >/dev/null || missing "Go 1.21 or later, which downloads the release of go.mod: https://go.dev/dl"
command -v "$(go env CC)" >/dev/null || missing "a C compiler: apt-get install gcc libc6-dev"

CGO_ENABLED=1 go build -buildvcs=false -o build/server .
