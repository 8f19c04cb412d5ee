#!/bin/sh
# Builds a release in build/ with Mix, unless nothing has changed since the last build.
set -eu
cd "$(dirname "$0")"
# shellcheck source=stacks/toolchain.sh
. ../toolchain.sh

command -v mix >/dev/null || missing "Elixir 1.18 or later on Erlang/OTP 25 or later, and a C compiler: https://elixir-lang.org/install.html"
if [ -f build/made ] && [ -z "$(find mix.exs config lib priv rel -newer build/made)" ]; then exit; fi

export MIX_ENV=prod
mix local.hex --force --if-missing >/dev/null 2>&1 || missing "Hex, which Mix could not download: https://hex.pm"
mix local.rebar --force --if-missing >/dev/null # builds telemetry
mix deps.get --only prod >/dev/null
mix release --overwrite --quiet
touch build/made
