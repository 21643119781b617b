#!/usr/bin/env bash
# Installs the build into a scratch prefix and uses it from outside: the example of docs/library.md as a separate project, the
# sample plugins, and the installed programs. Usage: api/install_test.sh SOURCE BUILD SCRATCH
set -euo pipefail
source=$1 build=$2 scratch=$3
rm -rf "$scratch"
mkdir -p "$scratch/project"
prefix=$scratch/prefix
cmake --install "$build" --prefix "$prefix" >"$scratch/install.log"

# The C++ block of docs/library.md.
awk '/^```cpp/ {inside = 1; next} /^```/ {if (inside) exit} inside' "$source/docs/library.md" >"$scratch/project/main.cpp"
lines=$(wc -l <"$scratch/project/main.cpp")
[ "$lines" -gt 5 ] && [ "$lines" -le 30 ] || { echo "install_test: expected an example of 6 to 30 lines in docs/library.md, found $lines"; exit 1; }
cat >"$scratch/project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(outside LANGUAGES CXX)
find_package(opkit 0.7 REQUIRED)
add_executable(outside main.cpp)
target_compile_features(outside PRIVATE cxx_std_20)
target_compile_options(outside PRIVATE -Wall -Wextra -Werror)
target_link_libraries(outside PRIVATE opkit::opkit)
END
cmake -S "$scratch/project" -B "$scratch/project/build" -DCMAKE_PREFIX_PATH="$prefix" >"$scratch/project.log"
cmake --build "$scratch/project/build" >>"$scratch/project.log"
"$prefix/bin/op-convert" zoo:transformer "$scratch/model.onnx" >"$scratch/convert.log"
"$scratch/project/build/outside" "$scratch/model.onnx" | tee "$scratch/outside.log"
grep -q 'output' "$scratch/outside.log"
if "$scratch/project/build/outside" /no/such/model 2>"$scratch/error.log"; then echo "install_test: a missing model ran"; exit 1; fi
grep -q '/no/such/model' "$scratch/error.log"

# A version that is not installed is refused.
sed 's/opkit 0.7/opkit 9.0/' "$scratch/project/CMakeLists.txt" >"$scratch/CMakeLists.txt"
mkdir -p "$scratch/newer" && mv "$scratch/CMakeLists.txt" "$scratch/newer/" && cp "$scratch/project/main.cpp" "$scratch/newer/"
if cmake -S "$scratch/newer" -B "$scratch/newer/build" -DCMAKE_PREFIX_PATH="$prefix" >"$scratch/newer.log" 2>&1; then
  echo "install_test: version 9.0 was found"; exit 1
fi

# The samples, built outside, work with the installed programs.
cp -r "$source/docs/examples" "$scratch/examples"
cmake -S "$scratch/examples" -B "$scratch/examples/build" -DCMAKE_PREFIX_PATH="$prefix" >"$scratch/examples.log"
cmake --build "$scratch/examples/build" >>"$scratch/examples.log"
"$prefix/bin/op-convert" "$scratch/model.onnx" "$scratch/model.opk" --plugin "$scratch/examples/build/libscaled_tanh.so"
"$prefix/bin/op-run" "$scratch/model.opk" --plugin "$scratch/examples/build/libdevice_and_pass.so" --backend twin >"$scratch/twin.log"
"$prefix/bin/op-convert" zoo:decoder "$scratch/decoder.onnx" >"$scratch/decoder.log"
"$scratch/examples/build/generate" "$scratch/decoder.onnx" cpu 5 1 2 3 | tee "$scratch/generate.log"
[ "$(head -n 1 "$scratch/generate.log" | wc -w)" = 5 ] || { echo "install_test: expected 5 tokens"; exit 1; }
echo "install_test: ok"
