#!/usr/bin/env bash
# ./demo in a copy of the tree that is built already: the fault is found with its reason, the mended shader passes; a tree
# whose shader has no such line is refused. Usage: harness/testing/demo_test.sh SOURCE BIN SCRATCH
set -uo pipefail
source=$1 bin=$2 scratch=$3
rm -rf "$scratch"
mkdir -p "$scratch/tools" "$scratch/tree/build/release"
tar -C "$source" --exclude=./build --exclude=./out --exclude=./.git -cf - . | tar -C "$scratch/tree" -xf -
ln -s "$bin" "$scratch/tree/build/release/bin"
for nothing in tree/setup tools/cmake; do
  printf '#!/bin/sh\n' >"$scratch/$nothing"
  chmod +x "$scratch/$nothing"
done
export PATH=$scratch/tools:$PATH
fail() { echo "demo_test: $*" >&2; cat "$scratch/log" >&2; exit 1; }
code=0
"$scratch/tree/demo" >"$scratch/log" 2>&1 || code=$?
[ $code = 0 ] || fail "expected exit code 0, got $code"
# In order: the line that changed, a case, the reason, the map of wrong elements, the verdicts.
pattern='> *largest = 0.0;.*fail Softmax/.*because  the wrong elements are NaN.*map .*FAIL after .*ok after .* 0 failures'
tr '\n' ' ' <"$scratch/log" | grep >/dev/null -E "$pattern" || fail "expected the fault, its diagnosis and a pass"
sed -i 's/teamMax(part)/teamMax( part)/' "$scratch/tree/shaders/softmax/softmax.comp"
code=0
"$scratch/tree/demo" >"$scratch/log" 2>&1 || code=$?
[ $code = 2 ] && tail -n 1 "$scratch/log" | grep >/dev/null "^demo: shaders/softmax/softmax.comp has no line" || fail "a shader without the line: got $code"
! grep OPKIT_OPS "$scratch/log" || fail "another build, where one of every operator is there"
mv "$scratch/tree/build/release" "$scratch/tree/build/native"
"$scratch/tree/demo" >"$scratch/log" 2>&1 || true
grep >/dev/null "^== building op-harness OPKIT_OPS=Softmax" "$scratch/log" || fail "not a build of Softmax alone"
code=0
"$scratch/tree/demo" now >"$scratch/log" 2>&1 || code=$?
[ $code = 2 ] && grep -F "demo: unknown argument 'now'; see ./demo --help" "$scratch/log" >/dev/null || fail "an argument is taken"
for script in demo test; do
  "$scratch/tree/$script" --help >"$scratch/log" 2>&1 && grep -F "Usage: ./$script" "$scratch/log" >/dev/null || fail "$script --help"
done
exit 0
