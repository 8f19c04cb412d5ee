#!/bin/sh
# Sets up whatever is missing, then runs the tests that a change is most likely to break: ./test.sh
# All tests, also those that need a Docker engine, other languages or a quiet machine: ./test.sh all
# The tests of servers in other languages: ./test.sh stacks. Some test files: ./test.sh FILE ...
set -eu
CDPATH='' cd -- "$(dirname "$(readlink -f "$0")")"
. bench/setup.sh

alone setup_bun
alone setup_servers
alone setup_tests
alone setup_fortio

# These tests measure, so nothing else may run at the same time.
ALONE="tests/bench/agents.test.ts tests/bench/gate.test.ts tests/bench/instrument.test.ts tests/bench/k6.test.ts"
# The slowest files first.
LIKELY="tests/bench/end-to-end.test.ts tests/servers/contract.test.ts tests/bench/simulated.test.ts tests/servers/config.test.ts tests/unit"

# Long enough for any machine, so only a test that hangs fails.
export TIMEOUT_MS=900000
export REPORTS=.tools/tests
rm -rf "$REPORTS"
mkdir -p "$REPORTS"
code=0
one_by_one() {
  bun test --timeout "$TIMEOUT_MS" --reporter=junit --reporter-outfile="$REPORTS/one-by-one.xml" "$@" || code=$?
}
files() { for folder; do find "$folder" -name '*.test.ts' | sort; done; }
# Runs four files at once, in the given order. Prints the output of each file when it has ended.
beside() {
  # shellcheck disable=SC2016 # for the inner shell
  xargs -P 4 -n 1 sh -c '
    name=$REPORTS/$(basename "$1" .test.ts)-$$
    case $1 in tests/stacks/*) while kill -0 "$BUILDING" 2>/dev/null; do sleep 1; done ;; esac
    bun test --timeout "$TIMEOUT_MS" --reporter=junit --reporter-outfile="$name.xml" "$1" >"$name.log" 2>&1
    code=$?
    cat "$name.log"
    [ -f "$name.xml" ] || {
      echo "<testsuites name=\"bun test\" tests=\"1\" failures=\"1\" skipped=\"0\">"
      echo "<testcase name=\"it could not be read\" classname=\"\" file=\"$1\">"
      echo "<failure>"
    } >"$name.xml"
    exit "$code"' file
}

# Builds the servers in other languages once, while other tests run. If a build fails, its tests report it.
export BUILDS_FILE="$REPORTS/builds.json"
build_stacks() {
  setsid bun tests/stacks/build.ts >/dev/null 2>&1 &
  export BUILDING=$!
  trap 'kill -- "-$BUILDING" 2>/dev/null || true' EXIT
  trap 'exit 130' INT TERM
}

# shellcheck disable=SC2086 # lists of files
case "$*" in
"") files $LIKELY | grep -v simulations | beside || code=1 ;;
all)
  alone setup_k6
  build_stacks
  # The slowest folders first; tests/stacks last, because its servers are being built.
  files tests/docker tests/bench tests/servers tests/unit tests/stacks | grep -vxF "$(printf '%s\n' $ALONE)" | beside || code=1
  one_by_one $ALONE
  ;;
stacks)
  build_stacks
  files tests/stacks | beside || code=1
  ;;
*) one_by_one "$@" ;;
esac

# Prints all failures again at the end, where they are easy to see.
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
  }' "$REPORTS"/*.xml
sed -n 's/^<testsuites .* tests="\([0-9]*\)".* failures="\([0-9]*\)" skipped="\([0-9]*\)".*/\1 \2 \3/p' "$REPORTS"/*.xml |
  awk '{ tests += $1; failed += $2; skipped += $3 }
    END { print tests - failed - skipped " passed, " failed + 0 " failed, " skipped + 0 " skipped" }'
exit "$code"
