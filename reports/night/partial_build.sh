#!/usr/bin/env bash
# Partial builds (cmake/opkit_chosen.cmake): each builds, has the cases that the whole build has for its operators, passes
# them, and refuses the rest in one line. Usage: reports/night/partial_build.sh BIN OUT OPERATORS...   OPERATORS: Softmax,Add
set -euo pipefail
bin=$1 out=$2
shift 2
fail() { echo "partial_build: $*" >&2; exit 1; }
[ $# -gt 0 ] || fail "no operators"
all=$("$bin/op-harness" list | tail -n +2 | wc -l)
for operators in "$@"; do
  echo "== $operators"
  cmake --preset native -B build/partial -DOPKIT_OPS="$operators" >"$out/configure.log"
  cmake --build build/partial --target op-harness
  few=build/partial/bin/op-harness
  "$bin/op-harness" list --ids --op "$operators" >"$out/whole.ids" || [ $? = 3 ]
  $few list --ids --op "$operators" >"$out/few.ids" 2>"$out/notes" || [ $? = 3 ]
  grep -x "partial build for $operators: [0-9]* of $all operators" "$out/notes" || fail "no note: $(cat "$out/notes")"
  cmp "$out/whole.ids" "$out/few.ids" || fail "$operators: other cases"
  # 3: nothing ran, for operators without cases.
  code=0
  $few check --op "$operators" --written --backend cpu,vulkan || code=$?
  [ $code = 0 ] || { [ $code = 3 ] && [ ! -s "$out/few.ids" ]; } || fail "$operators: check ended with $code"
  ! $few model zoo:vit 2>"$out/notes" || fail "model is not refused"
  grep "model: not in this partial build for $operators; " "$out/notes" || fail "model is refused with $(cat "$out/notes")"
  ! $few check --ort libonnxruntime.so.1 2>"$out/notes" || fail "check --ort is not refused"
  grep -e "--ort: not in this partial build for $operators; " "$out/notes" || fail "check --ort is refused with $(cat "$out/notes")"
done
