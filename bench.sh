#!/bin/sh
# Sets up whatever is missing, then measures: see ./bench.sh --help
set -eu
cd "$(dirname "$0")"
case "$*" in --help | -h) exec cat bench/help.txt ;; esac
. bench/setup.sh

setup_bun
setup_packages
case " $* " in
" help "* | *" --help "* | *" -h "* | " report "*) ;;
*" --agents "*) setup_database ;;
*)
  setup_fortio
  case "$*" in *content*) setup_k6 ;; esac
  setup_database
  ;;
esac
exec bun bench/cli.ts "$@"
