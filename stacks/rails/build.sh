#!/bin/sh
# Looks for the gems that Gemfile.lock names; there is nothing to build.
set -eu
cd "$(dirname "$0")"

if ! bundle check >/dev/null 2>&1; then
  echo "stacks/rails needs Ruby 3.1, Rails 6.1.7.10, Puma 5.6.5 and sqlite3 1.4.2, the packages of Debian 12: apt-get install ruby-rails puma ruby-sqlite3 bundler" >&2
  exit 69
fi
