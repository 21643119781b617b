#!/usr/bin/env bash
# cmake/borrow_outputs.cpp copies the object of a joined source from another build, unless a file of the group is newer.
# Usage: cmake/borrow_outputs_test.sh PROGRAM
set -euo pipefail
program=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "borrow_outputs_test: $*" >&2; exit 1; }

for tree in lender here; do
  mkdir -p "$work/$tree/build/release/ops/Unity"
  for name in first second; do echo "int $name;" >"$work/$tree/$name.cpp"; done
  touch -d '2 hours ago' "$work/$tree"/*.cpp
  printf '#include "%s"\n' "$work/$tree/first.cpp" "$work/$tree/second.cpp" >"$work/$tree/build/release/ops/Unity/unity_0_cxx.cxx"
done
echo lent >"$work/lender/build/release/ops/joined.o"
echo "ops/joined.o: $work/lender/first.cpp" >"$work/lender/build/release/ops/joined.d"
touch -d '1 hour ago' "$work/lender/build/release/ops/joined.o"
printf '#!/bin/sh\necho compiled >ops/joined.o\n' >"$work/compiler"
chmod +x "$work/compiler"

cd "$work/here/build/release"
object() {  # what a build makes: lent or compiled
  rm -f ops/joined.o
  OPKIT_BORROW=$work/lender/build/release OPKIT_BORROW_DEPS=$work/none "$program" "$work/compiler" -MF ops/joined.d \
    -o ops/joined.o -c "$work/here/build/release/ops/Unity/unity_0_cxx.cxx"
  cat ops/joined.o
}
[ "$(object)" = lent ] || fail "equal sources: expected the object of the lender"
grep -q "$work/here/first.cpp" ops/joined.d || fail "dependencies: expected paths of this tree, got $(cat ops/joined.d)"
touch "$work/here/second.cpp"
[ "$(object)" = compiled ] || fail "a file of the group is newer than the object: expected a compilation"
touch -d '2 hours ago' "$work/here/second.cpp"
echo >>ops/Unity/unity_0_cxx.cxx
[ "$(object)" = compiled ] || fail "another group: expected a compilation"
echo "borrow_outputs_test: ok"
