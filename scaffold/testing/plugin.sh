#!/usr/bin/env bash
# Installs OpKit, writes a plugin project in C and one in C++ outside the tree, builds them against the install as a user
# would, with the compiler alone and as a CMake project, and cross-checks their operators with the cases they bring, using the
# installed programs.
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
  op-scaffold plugin "$name" --language "$language" >"$folder/steps"
  op-scaffold plugin "$name" --language "$language" | grep >/dev/null 'nothing to do'
  # The printed steps, on the backends of this build.
  sed -e '1,/^Next:/d' -e "s/^ *[^ ]*op-harness check .*/& --backend $backends/; s/ --backend cpu --/ --/" "$folder/steps" | tee /dev/stderr |
    bash -euo pipefail >"$folder/printed"
  grep -E "^(com.example|ok)" "$folder/printed"
  for backend in ${backends/,/ }; do
    grep -qE "^com.example::Leaky${language^} +$backend +[1-9]" "$folder/printed" || { echo "plugin: nothing passed on $backend"; exit 1; }
  done
  sed -n 's/^ *# as a CMake project: //p' "$folder/steps" | bash -euo pipefail >"$folder/cmake.log"
  op-harness check --plugin "$name/build/lib$name.so" --op "com.example::Leaky${language^}" --backend cpu | grep '^ok'
done
rm -rf "$folder"
