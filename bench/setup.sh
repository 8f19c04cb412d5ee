# shellcheck shell=sh
# Sourced in the project's folder: each setup_NAME finds NAME or installs it under .tools/ or node_modules/.
# No daemon or system package is installed; outside this folder only the download caches of npm, Bun and Go grow.
FORTIO_VERSION=1.68.2
K6_VERSION=1.8.1
# Apps of the user and their setup commands get the caller's PATH.
export CALLERS_PATH="${CALLERS_PATH:-$PATH}"
PATH="$PWD/.tools/bin:$PWD/node_modules/.bin:$PATH"
export PATH

say() { echo "$*" >&2; }
fail() { say "$*"; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

# Bun: on PATH in at least the version of package.json, else that version from npm.
setup_bun() {
  wanted=$(sed -n 's/.*"packageManager": "bun@\([^"]*\)".*/\1/p' package.json)
  if have bun && printf '%s\n' "$wanted" "$(bun --version)" | sort -C -V; then return; fi
  have npm || fail "Bun $wanted is missing, and so is npm to install it: install either of them, then run this again"
  say "installing Bun $wanted into .tools/"
  npm install --prefix .tools --no-save --no-fund --no-audit --ignore-scripts --loglevel=error "bun@$wanted" >&2 ||
    fail "npm could not install Bun $wanted: see above"
  mkdir -p .tools/bin
  for bun in "$PWD"/.tools/node_modules/@oven/bun-*/bin/bun; do
    if "$bun" --version >/dev/null 2>&1; then ln -sf "$bun" .tools/bin/bun; fi
  done
  bun --version >/dev/null 2>&1 || fail "Bun $wanted has no build for this machine"
}

# alone COMMAND...: set-ups of two runs at once would write the same files, so the second waits.
alone() (
  if have flock && { mkdir -p .tools && touch .tools/lock; } 2>/dev/null; then
    exec 9>.tools/lock
    flock -w 10 9 || { say "waiting for another set-up in this folder"; flock 9; }
  fi
  "$@"
)

# packages NAME OPTION...: packages in the versions of bun.lockb, among them NAME. Later calls add to earlier ones.
packages() {
  [ -f bun.lockb ] || return 0 # an image that has them
  [ -d "node_modules/$1" ] || say "installing packages into node_modules/"
  shift
  said=$(bun install --frozen-lockfile "$@" 2>&1) || fail "bun install failed: $said"
}
setup_bench() { packages commander --filter bench --omit=dev --omit=optional; }
setup_httpyac() { packages httpyac --filter bench --omit=dev; }
setup_tests() { packages typescript; }

# The servers of the matrix: frameworks, drivers, Node and data.
setup_servers() {
  packages elysia --filter simple-http-server-benchmark --omit=dev
  rm -rf node_modules/node-*/include # for compiling add-ons, 67 MB
  have node || fail "Node.js is missing and the registry has no build of it for this machine: install Node.js 24 or later"
  [ -f data.db ] || bun createdb.ts >&2 || exit 1
}

setup_fortio() { setup_generator fortio "$FORTIO_VERSION" fortio.org/fortio fortio/fortio; }
setup_k6() { setup_generator k6 "$K6_VERSION" go.k6.io/k6 grafana/k6; }

# A load generator (name, version, Go package, image): from PATH, else built by Go, else copied out of its image, because a
# process of this machine can be paused, and its CPU time is known.
setup_generator() {
  if have "$1"; then return; fi
  mkdir -p .tools/bin 2>/dev/null || fail "$1 is missing, and .tools/ cannot be made here to install it: install $1, then run this again"
  if have go; then
    say "installing $1 $2 into .tools/ with Go"
    # Without debug information: a fifth less to compile.
    GOBIN="$PWD/.tools/bin" go install -gcflags=all=-dwarf=false -ldflags="-s -w" "$3@v$2" >&2 || fail "go install $1 failed: see above"
  elif have docker && docker info >/dev/null 2>&1; then
    say "copying $1 out of the image $4:$2 into .tools/"
    container=$(docker create "$4:$2") || fail "docker could not get the image $4:$2: see above"
    trap 'docker rm "$container" >/dev/null' EXIT
    trap 'exit 130' INT TERM
    docker cp -q "$container:/usr/bin/$1" ".tools/$1.new" >&2 || fail "the image $4:$2 has no /usr/bin/$1"
    mv ".tools/$1.new" ".tools/bin/$1"
  else
    fail "$1 is missing, and so are Go and a Docker engine to install it with: install one of them, or a package from the releases of $1, then run this again"
  fi
}
