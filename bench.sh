#!/bin/sh
# Sets up whatever is missing, then measures: see ./bench.sh --help
set -eu
CALLED_FROM=$PWD
export CALLED_FROM
cd "$(dirname "$0")"
case "$*" in --help | -h) exec cat bench/help.txt ;; esac
. bench/setup.sh

# With --fail-above, exit 1 means that the change is slower, so a setup that fails exits 3.
case " $* " in *" --fail-above"*) trap '[ $? -ne 1 ] || exit 3' EXIT ;; esac

setup_bun
setup_packages
# The arguments decide which tools are needed; values of other options do not count.
needs="fortio database" last=
case "${1-}" in help | report) needs= ;; esac
for word; do
  case "$word" in
  --help | -h) needs= ;;
  --agents | --agents=*) needs=${needs#fortio } ;;
  --workload=content | --workload=tpcb) needs="k6 $needs" ;;
  content | tpcb) [ "$last" != --workload ] || needs="k6 $needs" ;;
  esac
  last=$word
done
for need in $needs; do "setup_$need"; done
exec bun bench/cli.ts "$@"
