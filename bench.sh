#!/bin/sh
# Sets up Bun and the packages of bench/, then measures: see ./bench.sh --help. The command line sets up what else a run needs.
set -eu
CALLED_FROM=$PWD
export CALLED_FROM
CDPATH='' cd -- "$(dirname "$(readlink -f "$0")")"
case "$*" in --help | -h) exec cat bench/help.txt ;; esac
. bench/setup.sh

# With --fail-above, exit 1 means that the change is slower, so a setup that fails exits 3.
case " $* " in *" --fail-above"*) trap '[ $? -ne 1 ] || exit 3' EXIT ;; esac

# shellcheck disable=SC2016 # a command to copy
[ "$(uname)" = Linux ] || case " $* " in " help "* | " report "* | *" --help "* | *" --dry-run "*) ;; *)
  fail 'measuring requires Linux, and Docker has one: docker build --target bench -t http-benchmark:bench . && docker run --rm -it -h docker -v "$PWD/results:/results" http-benchmark:bench bench'
  ;;
esac

alone setup_bun
alone setup_bench
exec bun bench/cli.ts "$@"
