#!/bin/sh
# Sets up whatever is missing, then measures: see ./bench.sh --help
set -eu
CALLED_FROM=$PWD
export CALLED_FROM
cd "$(dirname "$0")"
case "$*" in --help | -h) exec cat bench/help.txt ;; esac
. bench/setup.sh

# To a gate, 1 says that a change is slower.
case " $* " in *" --fail-above"*) trap '[ $? -ne 1 ] || exit 3' EXIT ;; esac

setup_bun
setup_packages
case " $* " in
" help "* | *" --help "* | *" -h "* | " report "*) ;;
*" --agents "*) setup_database ;;
*)
  setup_fortio
  case "$*" in *content* | *tpcb* | *"POST /tx"*) setup_k6 ;; esac
  setup_database
  ;;
esac
exec bun bench/cli.ts "$@"
