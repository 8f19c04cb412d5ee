#!/bin/sh
# Builds target/release/rust-*; Cargo itself checks whether anything has changed.
set -eu
cd "$(dirname "$0")"
# shellcheck source=stacks/toolchain.sh
. ../toolchain.sh

release=$(cargo --version 2>/dev/null || true) # e.g. cargo 1.95.0 (f2d3ce0bd 2026-03-21)
minor=${release#cargo 1.}
minor=${minor%%[!0-9]*}
if [ "${minor:-0}" -lt 95 ] || ! command -v cc >/dev/null; then
  missing "Rust 1.95 or later (https://rustup.rs) and a C compiler (apt-get install gcc libc6-dev)"
fi
exec cargo build --quiet --release --locked
