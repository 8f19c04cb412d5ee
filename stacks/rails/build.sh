#!/bin/sh
# Locks the versions of the installed gems.
set -eu
cd "$(dirname "$0")"
# shellcheck source=stacks/toolchain.sh
. ../toolchain.sh

if ! bundle check >/dev/null 2>&1; then
  rm -f Gemfile.lock # an update has replaced its gems
  bundle install --local --quiet >/dev/null 2>&1 ||
    missing "Ruby, Rails, Puma and sqlite3, packages of Debian 12 or 13: apt-get install ruby-rails puma ruby-sqlite3 bundler"
fi
