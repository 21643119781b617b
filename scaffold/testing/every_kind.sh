#!/usr/bin/env bash
# Scaffolds an operator of every kind, and a backend, in one scratch copy of the tree, builds what is new, cross-checks each on every
# backend (resize walk included), sees the failing-first form fail, then removes all and finds the tree unchanged to the
# byte. Objects of unchanged files come from ccache.
# Usage: scaffold/testing/every_kind.sh SOURCE-ROOT SCRATCH-DIR OP-SCAFFOLD VULKAN(ON|OFF)
set -euo pipefail
root=$1 scratch=$2 scaffold=$3 vulkan=$4
fail() { echo "every_kind: $*" >&2; exit 1; }
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$root"
git ls-files -co --exclude-standard -z | while IFS= read -r -d '' file; do
  [ -f "$file" ] && printf '%s\0' "$file"
done | xargs -0 cp --parents -p -t "$scratch"
cd "$scratch"
hashes() { find . -type f -not -path './build/*' -exec sha256sum {} + | sort; }
hashes >../before.txt
backends=cpu
[ "$vulkan" = ON ] && backends=cpu,vulkan

names=()
while read -r kind; do
  name="Try${kind^}"
  "$scaffold" new "$name" --kind "$kind" >/dev/null
  names+=("$name")
done < <("$scaffold" kinds | sed -n 's/^\([a-z]\+\) .*/\1/p')
[ ${#names[@]} -ge 11 ] || fail "expected 11 kinds or more, got ${#names[@]}"
"$scaffold" new TryParameters --kind elementwise --input x --input weight --attr alpha:float=0.25 --attr steps:int=3 \
  --attr flag:bool=true --attr label:string=abc --attr sizes:ints >/dev/null
"$scaffold" new TryPorts --kind custom --input x --input scale:f32 --output y --output second --attr gain:float=2 >/dev/null
"$scaffold" new TryFailing --kind rowwise --tdd >/dev/null
"$scaffold" backend try_npu >/dev/null
find ops/try_* engine/backend/try_npu ops/unary ops/binary -name '*.cpp' -o -name '*.h' | xargs clang-format --dry-run --Werror

cmake --preset ci -DOPKIT_TESTS=OFF -DOPKIT_VULKAN="$vulkan" >/dev/null
cmake --build --preset ci --target op-harness | tail -n 1
harness=build/release/bin/op-harness
all=$(IFS=,; echo "${names[*]},TryParameters,TryPorts")
"$harness" check --op "$all" --backend "$backends" | tee ../checked.txt
for name in "${names[@]}" TryParameters TryPorts; do
  for backend in ${backends/,/ }; do
    grep -qE "^$name +$backend +[1-9]" ../checked.txt || fail "$name did not run on $backend"
  done
done
code=0
"$harness" check --op TryFailing --backend "$backends" >../failing.txt || code=$?
[ "$code" = 1 ] || fail "--tdd: expected the check to fail with exit code 1, got $code"

"$harness" devices | grep -q '^try_npu' || fail "op-harness devices does not list try_npu"
"$harness" backend try_npu | tail -n 1
"$harness" check --op Relu --backend cpu | tail -n 1

# From `new` to the first passing check.
start=$(date +%s.%N)
"$scaffold" new TimedOperator --kind elementwise >/dev/null
cmake --build --preset ci --target op-harness >/dev/null
"$harness" check --op TimedOperator --backend "$backends" >/dev/null
printf 'from op-scaffold new to a passing check: %.1f s\n' "$(awk "BEGIN{print $(date +%s.%N) - $start}")"

for name in "${names[@]}" TryParameters TryPorts TryFailing TimedOperator try_npu; do "$scaffold" remove "$name" >/dev/null; done
hashes >../after.txt
diff ../before.txt ../after.txt || fail "the tree is not what it was"
echo "${#names[@]} kinds: written, built, checked, removed"
rm -rf "$scratch"
