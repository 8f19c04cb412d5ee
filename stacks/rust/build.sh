#!/bin/sh
# Builds target/release/rust-*; Cargo itself looks whether anything has changed.
set -eu
cd "$(dirname "$0")"

missing() {
  echo "stacks/rust needs $1" >&2
  exit 69
}

release=$(cargo --version 2>/dev/null || true) # e.g. cargo 1.95.0 (f2d3ce0bd 2026-03-21)
minor=${release#cargo 1.}
minor=${minor%%[!0-9]*}
if [ "${minor:-0}" -lt 95 ] || ! command -v cc >/dev/null; then
  missing "Rust 1.95 or later (https://rustup.rs) and a C compiler (apt-get install gcc libc6-dev)"
fi

if [ ! -f build/openapi.json ] || [ -n "$(find openapi.ts ../../shared -newer build/openapi.json)" ]; then
  command -v bun >/dev/null || missing "bun 1.4, with the packages of the repository: https://bun.sh, then bun install"
  bun openapi.ts
fi
exec cargo build --quiet --release --locked
