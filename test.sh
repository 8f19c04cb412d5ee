#!/bin/sh
# Sets up whatever is missing, then runs what a change is likely to break: ./test.sh
# All there is, also what needs a Docker engine, other languages or a quiet machine: ./test.sh all.
# The servers in other languages: ./test.sh stacks. Some of it: ./test.sh FILE ...
set -eu
cd "$(dirname "$0")"
. bench/setup.sh

setup_bun
setup_packages
setup_fortio
setup_k6
setup_database

# Tests of what is measured: nothing else may run beside them.
ALONE="tests/bench/agents.test.ts tests/bench/instrument.test.ts tests/bench/k6.test.ts tests/servers/hostile.test.ts"
LIKELY="tests/unit tests/servers/contract.test.ts tests/servers/config.test.ts tests/bench/end-to-end.test.ts tests/bench/simulated.test.ts"

# Long enough for any machine: only a hang fails.
TIMEOUT_MS=900000

code=0
reports=.tools/tests
rm -rf "$reports"
mkdir -p "$reports"
run() {
  name=$1
  shift
  bun test --timeout "$TIMEOUT_MS" --reporter=junit --reporter-outfile="$reports/$name.xml" "$@" || code=$?
}

# The slowest first: bun test --timings=tests/timings.json --update-timings measures them again.
beside() { run beside --parallel=4 --timings=tests/timings.json "$@"; }

# The servers in other languages are built once, where others are tested meanwhile; a build that fails is told by its tests.
export BUILDS_FILE="$reports/builds.json"
build_stacks() {
  setsid nice bun tests/stacks/build.ts >/dev/null 2>&1 &
  builds=$!
  trap 'kill -- "-$builds" 2>/dev/null || true' EXIT
  trap 'exit 130' INT TERM
}
stacks() {
  wait "$builds" || true
  run stacks --parallel=4 --timings=tests/timings.json tests/stacks
}

# shellcheck disable=SC2046,SC2086 # lists of arguments
case "$*" in
"") beside --path-ignore-patterns='**/simulations.test.ts' $LIKELY ;;
all)
  build_stacks
  beside --path-ignore-patterns='tests/stacks/**' $(printf -- '--path-ignore-patterns=%s ' $ALONE)
  stacks
  run alone $ALONE
  ;;
stacks)
  build_stacks
  stacks
  ;;
*) run chosen "$@" ;;
esac

# What failed once more at the end, where it is seen.
awk '
  function attribute(name) { return match(test, " " name "=\"[^\"]*\"") ? substr(test, RSTART + length(name) + 3, RLENGTH - length(name) - 4) : "" }
  /<testcase / { test = $0 }
  /<failure/ {
    said = $0
    gsub(/.*<failure[^>]*>|<\/failure>.*/, "", said)
    text = "\n(fail) " attribute("file") ": " attribute("classname") ": " attribute("name") "\n" said
    gsub(/&#10;/, "\n", text); gsub(/&gt;/, ">", text); gsub(/&lt;/, "<", text)
    gsub(/&quot;/, "\"", text); gsub(/&apos;/, "\047", text); gsub(/&amp;/, "\\&", text)
    print text
  }' "$reports"/*.xml
sed -n 's/^<testsuites .* tests="\([0-9]*\)".* failures="\([0-9]*\)" skipped="\([0-9]*\)".*/\1 \2 \3/p' "$reports"/*.xml |
  awk '{ tests += $1; failed += $2; skipped += $3 }
    END { print tests - failed - skipped " passed, " failed + 0 " failed, " skipped + 0 " skipped" }'
exit "$code"
