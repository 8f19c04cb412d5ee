# shellcheck shell=sh
# What the build.sh of several stacks does alike; sourced in the folder of the stack.

# missing WHAT: says what the stack needs, and exits as sysexits.h has it for what is not there.
missing() {
  echo "stacks/${PWD##*/} needs $1" >&2
  exit 69
}

# packages: installs those of a stack on Node.
packages() {
  PATH="$PWD/../../node_modules/.bin:$PWD/../../.tools/bin:$PATH" # the pinned ones, where they are installed
  command -v bun >/dev/null || missing "Bun 1.4, which ./bench.sh installs: https://bun.sh"
  release=$(node --version 2>/dev/null || true) # e.g. v26.10.0
  major=${release#v}
  [ "$(printf '%d' "${major%%.*}" 2>/dev/null)" -ge 24 ] || missing "Node.js 24 or later, which ./bench.sh installs: https://nodejs.org"
  [ -d ../../node_modules ] || missing "the packages of the repository: bun install"
  bun install --frozen-lockfile --silent
}
