#!/bin/sh
# Looks for the gems that Gemfile.lock names, and makes the description of the endpoints.
set -eu
cd "$(dirname "$0")"
# shellcheck source=stacks/toolchain.sh
. ../toolchain.sh

bundle check >/dev/null 2>&1 ||
  missing "Ruby 3.1, Rails 6.1.7.10, Puma 5.6.5 and sqlite3 1.4.2, the packages of Debian 12: apt-get install ruby-rails puma ruby-sqlite3 bundler"

describe build
