#!/bin/sh
# What action.yml does, for any CI: the inputs as variables, the outputs in $GITHUB_OUTPUT and $GITHUB_STEP_SUMMARY where those are set.
# An undecided gate (2) is no failure: it says so.
set -eu
folder=$(mktemp -d)
code=0
# shellcheck disable=SC2086 # options are words
"$(dirname "$0")/../bench.sh" compare --ref "$BASE" --ref HEAD --start "$START" --setup "${SETUP:-true}" \
  --endpoints "${ENDPOINTS:-/}" --fail-above "${FAIL_ABOVE:-5%}" \
  --json "$folder/gate.json" --markdown "$folder/gate.md" ${OPTIONS-} || code=$?
case $code in
0) verdict="not slower" ;;
1) verdict=slower ;;
2) verdict=undecided ;;
3) verdict="not measured" ;;
*) exit "$code" ;;
esac
outputs="verdict=$verdict
json=$folder/gate.json
markdown=$folder/gate.md"
if [ -n "${GITHUB_OUTPUT-}" ]; then echo "$outputs" >>"$GITHUB_OUTPUT"; else echo "$outputs"; fi
if [ -n "${GITHUB_STEP_SUMMARY-}" ] && [ -f "$folder/gate.md" ]; then cat "$folder/gate.md" >>"$GITHUB_STEP_SUMMARY"; fi
[ "$code" -ne 2 ] || exit 0
exit "$code"
