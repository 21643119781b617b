#!/usr/bin/env bash
# Plants each violation that cmake/check_independence.sh looks for in a tree of four files, and expects its line.
set -euo pipefail
check=$(cd "$(dirname "$0")" && pwd)/check_independence.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
objects=build/ops/CMakeFiles/opkit_ops.dir  # as CMake names what it makes
mkdir -p "$work"/{cmake,engine/op,shaders/thing,ops/thing,build/generated,$objects/thing,$objects/Unity}
cd "$work"
fail() { echo "check_independence_test: $*" >&2; exit 1; }

# The tree without a violation: the oracle and the kernel share a declaration.
clean() {
  : >cmake/shared_with_oracles.txt
  echo '// Doubles, for all x.
namespace opkit { int reference(int x); int kernel(int x); int planned(int x); int shape(int x); }' >ops/thing/thing.h
  echo '#include "ops/thing/thing.h"
int opkit::reference(int x) { return x + x; }' >ops/thing/thing_reference.cpp
  echo '#include "ops/thing/thing.h"
int opkit::kernel(int x) { return 2 * x; }' >ops/thing/thing_cpu.cpp
  echo '#include "ops/thing/thing.h"
int opkit::shape(int x) { return reference(x); }' >ops/thing/thing.cpp
  echo 'void main() {}' >shaders/thing/thing.comp
  rm -f ops/thing/thing_table.h
}
compile() {
  local source object
  : >build/build.ninja
  for source in "$work"/ops/thing/*.cpp "$work/$objects"/Unity/*.cxx; do
    [ -e "$source" ] && ! grep -qsF "\"$source\"" "$objects"/Unity/*.cxx || continue
    object=$objects/thing/${source##*/}.o
    case $source in *.cxx) object=${source#"$work/"}.o ;; esac
    g++ -I. -c "$source" -o "$object"
    echo "build ${object#build/}: CXX_COMPILER__opkit_ops_Release $source" >>build/build.ninja
  done
}
expect() {  # the one line, or none
  local found code=0
  compile
  found=$("$check" . build) || code=$?
  [ "$found" = "$1" ] || fail "expected '$1', got '$found'"
  [ "$code" = $((${#1} > 0)) ] || fail "expected an exit code that says so, got $code for '$found'"
}

clean
expect ''

clean
echo 'inline int twice(int x) { return x + x; }' >>ops/thing/thing.h
expect 'ops/thing/thing.h:3: inline int twice(int x) { return x + x; } -- included by ops/thing/thing_reference.cpp and by ops/thing/thing.cpp'
echo 'ops/thing/thing.h  a reason' >cmake/shared_with_oracles.txt
expect ''

clean
echo 'ROW(Twice, x + x)' >ops/thing/thing_table.h
echo '#include "ops/thing/thing_table.h"' >>shaders/thing/thing.comp
sed -i '1i #define ROW(Name, value) int opkit::planned(int x) { return value; }\n#include "ops/thing/thing_table.h"' ops/thing/thing_reference.cpp
sed -i '1i namespace opkit { int planned(int x); }' ops/thing/thing_reference.cpp
expect 'ops/thing/thing_table.h:1: ROW(Twice, x + x) -- included by ops/thing/thing_reference.cpp and by shaders/thing/thing.comp'

clean
sed -i 's/2 \* x/reference(x)/' ops/thing/thing_cpu.cpp
expect 'ops/thing/thing_cpu.cpp calls opkit::reference of the oracle ops/thing/thing_reference.cpp'
# The same, if oracles were compiled as one source.
echo "#include \"$work/ops/thing/thing_reference.cpp\"" >$objects/Unity/unity_reference_3_cxx.cxx
expect 'ops/thing/thing_cpu.cpp calls opkit::reference of the oracle ops/Unity/unity_reference_3_cxx.cxx'
rm $objects/Unity/*
# The same, if kernels were.
clean
compile
sed -i 's/2 \* x/reference(x)/' ops/thing/thing_cpu.cpp
echo "#include \"$work/ops/thing/thing_cpu.cpp\"" >$objects/Unity/unity_parts_0_cxx.cxx
expect 'ops/Unity/unity_parts_0_cxx.cxx calls opkit::reference of the oracle ops/thing/thing_reference.cpp'
rm $objects/Unity/*

clean
sed -i 's/x + x/kernel(x)/' ops/thing/thing_reference.cpp
expect 'the oracle ops/thing/thing_reference.cpp calls opkit::kernel of ops/thing/thing_cpu.cpp'

clean
compile
rm $objects/thing/thing_cpu.cpp.o
"$check" . build 2>errors && fail "a missing object passes"
grep -q "thing_cpu.cpp.o is missing" errors || fail "expected the missing object, got '$(cat errors)'"

clean
sed -i 's/2 \* x/planned(x)/' ops/thing/thing_cpu.cpp
sed -i 's/x + x/planned(x)/' ops/thing/thing_reference.cpp
expect 'opkit::planned is called by ops/thing/thing_reference.cpp and by ops/thing/thing_cpu.cpp'
echo 'opkit::plan*  a reason' >cmake/shared_with_oracles.txt
expect ''

clean
echo 'opkit::planned  a reason' >cmake/shared_with_oracles.txt
expect 'cmake/shared_with_oracles.txt: nothing shares opkit::planned'
echo "check_independence_test: ok"
