#!/bin/sh
# Looks for the gems that Gemfile.lock names, and makes the description of the endpoints.
set -eu
cd "$(dirname "$0")"

missing() {
  echo "stacks/rails needs $1" >&2
  exit 69
}

bundle check >/dev/null 2>&1 ||
  missing "Ruby 3.1, Rails 6.1.7.10, Puma 5.6.5 and sqlite3 1.4.2, the packages of Debian 12: apt-get install ruby-rails puma ruby-sqlite3 bundler"

if [ ! -f build/openapi.json ] || [ -n "$(find openapi.ts ../../shared -newer build/openapi.json)" ]; then
  command -v bun >/dev/null || missing "bun 1.4, with the packages of the repository: https://bun.sh, then bun install"
  bun openapi.ts
fi
