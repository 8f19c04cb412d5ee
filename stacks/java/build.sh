#!/bin/sh
# Builds the servers with Maven, unless nothing has changed since the last time. They run on target/jdk.
set -eu
cd "$(dirname "$0")"
# shellcheck source=stacks/toolchain.sh
. ../toolchain.sh

stamp=target/built
sources=$(find build.sh pom.xml ./*/pom.xml ./*/src -type f | sort | xargs cksum)
if [ -x target/jdk/bin/java ] && [ -f "$stamp" ] && [ "$sources" = "$(cat "$stamp")" ]; then exit; fi

on_path=$(readlink -f "$(command -v javac)" || true)
JAVA_HOME=$(
  for home in "${JAVA_HOME-}" "${on_path%/bin/javac}" /usr/lib/jvm/*; do
    version=$("$home/bin/javac" -version 2>/dev/null | sed 's/javac \([0-9]*\).*/\1/')
    if [ "${version:-0}" -ge 25 ]; then echo "$home" && break; fi
  done
)
export JAVA_HOME
if [ -z "$JAVA_HOME" ] || ! command -v mvn >/dev/null; then
  missing "a JDK, 25 or later, as JAVA_HOME or in /usr/lib/jvm: https://adoptium.net, and Maven, 3.8 or later: apt-get install maven"
fi

mvn -q -B package
rm -rf spring/target/app
"$JAVA_HOME/bin/java" -Djarmode=tools -jar spring/target/server.jar extract --destination spring/target/app
mkdir -p target
ln -sfn "$JAVA_HOME" target/jdk
echo "$sources" >"$stamp"
