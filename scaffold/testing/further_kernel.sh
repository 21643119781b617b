#!/usr/bin/env bash
# Adds further kernels to operators of a scratch copy of the tree, two of them broken by hand, builds once, and checks: the
# kernels come first and run their cases, a wrong result and a kernel that always refuses fail their cases. Then it breaks
# the copied shader, removes all and finds the tree unchanged to the byte.
# Usage: scaffold/testing/further_kernel.sh SCRATCH-DIR VULKAN(ON|OFF)
set -euo pipefail
source "$(dirname "$0")/../../cmake/scratch_tree.sh"
scratch_enter "$1"
fail() { echo "further_kernel: $*" >&2; exit 1; }
PATH="$PWD/build/release/bin:$PATH"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
kernels=("Softmax cpu fused" "Trilu cpu wrong" "RotaryEmbedding cpu shy")
[ "$2" = OFF ] || kernels+=("Softmax vulkan fused")
for kernel in "${kernels[@]}"; do
  read -r op backend name <<<"$kernel"
  op-scaffold new-kernel "$op" --backend "$backend" --name "$name" >"$work/steps.$op.$backend"
done
sources=$(git ls-files -o --exclude-standard ops)
clang-format --dry-run --Werror $sources
# By hand: ones in place of zeros; a condition that nothing meets.
sed -i 's/, 0, head)/, 1, head)/; s/, 0, tail)/, 1, tail)/' ops/trilu/trilu_wrong_cpu.cpp
sed -i 's/given != made/given == given/' ops/rotary_embedding/rotary_embedding_shy_cpu.cpp
start=$(date +%s.%N)
cmake --build --preset release --target op-harness >"$work/build" 2>&1 || { cat "$work/build" >&2; fail "does not build"; }
printf 'built: %s sources in %.1f s\n' "$(grep -c 'Building CXX' "$work/build")" "$(awk "BEGIN{print $(date +%s.%N) - $start}")"

for backend in cpu ${2/OFF/}; do
  backend=${backend/ON/vulkan}
  op-harness check --op Softmax --written --backend "$backend" --json "$work/softmax.jsonl" >"$work/out" || { cat "$work/out"; fail "Softmax fails on $backend"; }
  grep -q '"kernel":"fused"' "$work/softmax.jsonl" && grep "the kernel fused on $backend" "$work/softmax.jsonl" | grep >/dev/null '"status":"pass"' || fail "the kernel fused did not run its case on $backend"
done
op-harness list --op Softmax | grep >/dev/null 'opkit/fused,opkit/vector' || fail "the kernel fused is not the first"

# broken OP NAME 'part of the message': the case of the kernel fails.
broken() {
  local code=0
  op-harness check --op "$1" --written --backend cpu >"$work/out" || code=$?
  [ "$code" = 1 ] && grep -qF "the kernel $2 on cpu" "$work/out" &&
    grep -qF -- "$3" "$work/out" || { cat "$work/out"; fail "expected the case of $1 to fail with '$3', got exit code $code"; }
}
broken Trilu wrong 'elements outside their bound'
broken RotaryEmbedding shy 'declared to run the kernel opkit/shy, but opkit ran; refused: cpu/opkit: RotaryEmbedding: the kernel shy takes'

if [ "$2" = ON ]; then
  sed -i 's/largest = teamMax(part);/largest = 0.5 * teamMax(part) + 100.0;/' shaders/softmax/softmax_fused.comp
  code=0
  op-harness watch --op Softmax --once >"$work/out" || code=$?
  [ "$code" = 1 ] && grep -qF 'the kernel fused on vulkan' "$work/out" || { cat "$work/out"; fail "the broken shader is not found: exit code $code"; }
fi
for kernel in "${kernels[@]}"; do
  read -r op backend name <<<"$kernel"
  op-scaffold remove "$op" --kernel "$name" --backend "$backend" --force >/dev/null
done
scratch_unchanged
echo "${#kernels[@]} further kernels: written, built, checked, found when broken, removed"
