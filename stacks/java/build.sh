#!/bin/sh
# Builds the servers with Maven, unless nothing has changed since the last time.
set -eu
cd "$(dirname "$0")"
# shellcheck source=stacks/toolchain.sh
. ../toolchain.sh

jdk="a JDK, 17 or later, and Maven, 3.8 or later: apt-get install openjdk-17-jdk-headless maven"
for tool in java javac mvn; do
  command -v "$tool" >/dev/null || missing "$jdk"
done

openapi=spring/target/openapi
describe "$openapi"

stamp=target/built
sources=$(find pom.xml ./*/pom.xml ./*/src $openapi -type f | sort | xargs cksum)
if [ -f "$stamp" ] && [ "$sources" = "$(cat "$stamp")" ]; then exit; fi

version=$(javac -version 2>&1 | sed 's/[^0-9]*\([0-9]*\).*/\1/')
[ "$version" -ge 17 ] || missing "$jdk"
mvn -q -B package
mkdir -p target
echo "$sources" >"$stamp"
