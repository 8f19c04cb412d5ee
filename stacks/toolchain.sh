# shellcheck shell=sh
# Functions that several build.sh share. Each build.sh sources this file in the folder of its stack.

# missing WHAT: prints what the stack needs and exits 69, which is EX_UNAVAILABLE in sysexits.h.
missing() {
  echo "stacks/${PWD##*/} needs $1" >&2
  exit 69
}

# packages: installs the packages of a stack on Node.
packages() {
  PATH="$PWD/../../node_modules/.bin:$PWD/../../.tools/bin:$PATH" # the pinned versions, if they are installed
  command -v bun >/dev/null || missing "Bun 1.4, which ./bench.sh installs: https://bun.sh"
  release=$(node --version 2>/dev/null || true) # e.g. v26.10.0
  major=${release#v}
  [ "$(printf '%d' "${major%%.*}" 2>/dev/null)" -ge 24 ] || missing "Node.js 24 or later, which ./bench.sh installs: https://nodejs.org"
  [ -d ../../node_modules ] || missing "the packages of the repository: bun install"
  bun install --frozen-lockfile --silent
}
