#!/bin/sh
# Sets up whatever is missing, then runs every check and test: ./test.sh [file ...]
set -eu
cd "$(dirname "$0")"
. bench/setup.sh

setup_bun
setup_packages
setup_fortio
setup_k6
setup_database

# Tests of what is measured: nothing else may run beside them.
ALONE="agents hostile instrument k6"

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

# shellcheck disable=SC2046,SC2086 # lists of arguments
if [ $# -gt 0 ]; then
  run chosen "$@"
else
  # The slowest first: bun test --timings=tests/timings.json --update-timings measures them again.
  run beside --parallel=3 --timings=tests/timings.json $(printf -- '--path-ignore-patterns=**/%s.test.ts ' $ALONE)
  run alone $(printf 'tests/%s.test.ts ' $ALONE)
fi

sed -n 's/^<testsuites .* tests="\([0-9]*\)".* failures="\([0-9]*\)" skipped="\([0-9]*\)".*/\1 \2 \3/p' "$reports"/*.xml |
  awk '{ tests += $1; failed += $2; skipped += $3 }
    END { print tests - failed - skipped " passed, " failed + 0 " failed, " skipped + 0 " skipped" }'
exit "$code"
