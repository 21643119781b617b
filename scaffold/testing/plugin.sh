#!/usr/bin/env bash
# Writes a plugin project in C and one in C++ outside the tree, builds them against opkit_plugin.h, and cross-checks their
# operators with the cases they bring (skipped where op-harness takes no plugins).
# Usage: scaffold/testing/plugin.sh SOURCE-ROOT DIR OP-SCAFFOLD OP-HARNESS VULKAN(ON|OFF)
set -euo pipefail
root=$1 folder=$2 scaffold=$3 harness=$4
backends=cpu
[ "$5" = ON ] && backends=cpu,vulkan
checks=true
"$harness" check --help | grep -q -- --plugin || checks=false
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
for language in c cpp; do
  name=leaky_$language
  "$scaffold" plugin "$name" --language "$language" >/dev/null
  "$scaffold" plugin "$name" --language "$language" | grep -q 'nothing to do'
  cmake -S "$name" -B "$name/build" -G Ninja -DOPKIT_PLUGIN_INCLUDE="$root/engine/plugin" >/dev/null
  cmake --build "$name/build" >/dev/null
  $checks || continue
  "$harness" check --plugin "$name/build/lib$name.so" --op "com.example::Leaky${language^}" --backend "$backends"
done
rm -rf "$folder"
$checks || { echo "written and built; not checked: op-harness check has no --plugin"; exit 77; }
