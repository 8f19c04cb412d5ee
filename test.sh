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

report=.tools/tests.xml
rm -f "$report"
code=0
bun test --timeout 120000 --reporter=junit --reporter-outfile="$report" "$@" || code=$?
[ -f "$report" ] || exit 1
sed -n 's/^<testsuites .* tests="\([0-9]*\)".* failures="\([0-9]*\)" skipped="\([0-9]*\)".*/\1 \2 \3/p' "$report" | {
  read -r tests failed skipped
  echo "$((tests - failed - skipped)) passed, $failed failed, $skipped skipped"
}
exit "$code"
