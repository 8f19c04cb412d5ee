#!/bin/sh
# action.yml for any CI: inputs are environment variables, outputs go to $GITHUB_OUTPUT and $GITHUB_STEP_SUMMARY if those are set.
# An undecided gate (2) passes with a warning, unless OPTIONS has --fail-undecided.
set -eu
bench="$(cd "$(dirname "$0")/.." && pwd)/bench.sh"
folder=$(mktemp -d)
not_measured() { echo "$*" >&2; exit 3; }
[ -n "${START-}" ] || not_measured "START is missing: give the command that starts the app"

# The commit to compare with: BASE; else, as on the first push of a branch or a tag, the one before HEAD. A shallow clone has neither.
case ${BASE-} in
"" | *[!0]*) base=${BASE:-HEAD^} ;;
*) base=HEAD^ ;; # BASE is all zeros at the first push of a branch or a tag
esac
if git rev-parse --git-dir >/dev/null 2>&1 && ! git rev-parse -q --verify "$base^{commit}" >/dev/null; then
  git fetch -q --depth=1 origin "$base" 2>/dev/null ||
    not_measured "the commit $base is not in this clone: check out with fetch-depth: 0, or give BASE"
  base=$(git rev-parse FETCH_HEAD)
fi

set -- --ref "$base" --ref HEAD --start "$START" ${SETUP:+--setup "$SETUP"} \
  --endpoints "${ENDPOINTS:-/}" --fail-above "${FAIL_ABOVE:-5%}" --json "$folder/gate.json" --markdown "$folder/gate.md"
# OPTIONS: one option per line, e.g. --env=NAME=a value with spaces, or shell words, where quotes keep a value together.
words() {
  printf '%s\n' "${OPTIONS-}" | while IFS= read -r line; do
    case ${line%%=*} in
    "" | *" "*) printf '%s\n' "$line" | xargs -n 1 printf '%s\n' ;;
    *) printf '%s\n' "$line" ;;
    esac || exit 1
  done
}
all=$(words) || not_measured "options cannot be split: close every quote"
while IFS= read -r word; do
  if [ -n "$word" ]; then set -- "$@" "$word"; fi
done <<WORDS
$all
WORDS
code=0
"$bench" compare "$@" || code=$?
case $code in 0 | 1 | 2 | 3) ;; *) exit "$code" ;; esac
[ -f "$folder/gate.json" ] || exit "$code" # compare has already printed the usage error
verdict=$(sed -n 's/^ *"verdict": "\([a-z ]*\)",$/\1/p' "$folder/gate.json" | head -n 1)
outputs="verdict=$verdict
json=$folder/gate.json
markdown=$folder/gate.md"
if [ -n "${GITHUB_OUTPUT-}" ]; then echo "$outputs" >>"$GITHUB_OUTPUT"; else echo "$outputs"; fi
if [ -n "${GITHUB_STEP_SUMMARY-}" ] && [ -f "$folder/gate.md" ]; then cat "$folder/gate.md" >>"$GITHUB_STEP_SUMMARY"; fi
[ "$code" -eq 2 ] || exit "$code"
echo "::warning::$(sed -n '1s/\*\*//gp' "$folder/gate.md")"
