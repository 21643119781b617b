#!/usr/bin/env bash
# Installs OpKit, writes a plugin project in C and one in C++ outside the tree, builds them against the install as a user
# would, and cross-checks their operators with the cases they bring, using the installed programs.
# Usage: scaffold/testing/plugin.sh BUILD-DIR DIR VULKAN(ON|OFF)
set -euo pipefail
build=$1 folder=$2
backends=cpu
[ "$3" = ON ] && backends=cpu,vulkan
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
cmake --install "$build" --prefix "$folder/install" >/dev/null
PATH="$folder/install/bin:$PATH"
for language in c cpp; do
  name=leaky_$language
  op-scaffold plugin "$name" --language "$language" >/dev/null
  op-scaffold plugin "$name" --language "$language" | grep -q 'nothing to do'
  cmake -S "$name" -B "$name/build" -G Ninja -DCMAKE_PREFIX_PATH="$folder/install" >/dev/null
  cmake --build "$name/build" >/dev/null
  op-harness check --plugin "$name/build/lib$name.so" --op "com.example::Leaky${language^}" --backend "$backends"
done
rm -rf "$folder"
