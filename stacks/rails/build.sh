#!/bin/sh
# Locks the gems that are installed.
set -eu
cd "$(dirname "$0")"
# shellcheck source=stacks/toolchain.sh
. ../toolchain.sh

if ! bundle check >/dev/null 2>&1; then
  rm -f Gemfile.lock # of gems that an update has replaced
  bundle install --local --quiet >/dev/null 2>&1 ||
    missing "Ruby, Rails, Puma and sqlite3, packages of Debian 12 or 13: apt-get install ruby-rails puma ruby-sqlite3 bundler"
fi
