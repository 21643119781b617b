#!/usr/bin/env bash
# Scaffolds operators of the kinds in a scratch copy of the tree (half of them, the other half the next day; all with
# OPKIT_KINDS=all), builds the new files, cross-checks each on every backend (resize walk included), sees the
# failing-first forms fail, adds a kernel to an operator that lacks one, renames one, does the same for a backend, then
# removes all and finds the tree unchanged to the byte. Usage: scaffold/testing/every_kind.sh SCRATCH-DIR VULKAN(ON|OFF)
set -euo pipefail
source "$(dirname "$0")/../../cmake/scratch_tree.sh"
scratch_enter "$1"
fail() { echo "every_kind: $*" >&2; exit 1; }
backends=cpu
[ "$2" = ON ] && backends=cpu,vulkan
PATH="$PWD/build/release/bin:$PATH"
trap 'rm -rf "$work"' EXIT
work=$(mktemp -d)

# The last steps that a command prints, restricted to the backends of this build.
steps() { sed -e '1,/^Next:/d' -e "s/cpu,vulkan/$backends/" "$1" | bash -euo pipefail; }

# From `new` to the first passing check, by the steps that it prints. The new files are in no cache.
start=$(date +%s.%N)
timed=Timed$(date +%s)
op-scaffold new "$timed" --kind elementwise >"$work/steps"
steps "$work/steps" >"$work/out" 2>&1 || { cat "$work/out"; fail "the printed steps do not work"; }
grep -q '^ok: ' "$work/out" && grep -q 'SCAFFOLD:' "$work/out" || fail "the printed steps show neither a pass nor the marks"
printf 'from op-scaffold new to a passing check: %.1f s (goal: 30 s on 2 cores)\n' "$(awk "BEGIN{print $(date +%s.%N) - $start}")"
op-scaffold remove "$timed" >/dev/null
scratch_unchanged

names=() failing=()
turn=$(($(date +%s) / 86400))
today() { [ "${OPKIT_KINDS-}" = all ] || ((turn++ % 2 == 0)); }
mapfile -t kinds < <(op-scaffold kinds | sed -n 's/^\([a-z]\+\) .*/\1/p')
[ ${#kinds[@]} -ge 14 ] || fail "expected 14 kinds or more, got ${#kinds[@]}"
for kind in "${kinds[@]}"; do
  today || continue
  op-scaffold new "Try${kind^}" --kind "$kind" >/dev/null
  names+=("Try${kind^}")
done
# One of each make: a row, kernels, two outputs, a table, a lowering, a loop, other operators. plan_test.cpp sees the failing text of every kind.
for kind in unary rowwise layout composite argpool scatter custom; do
  today || continue
  op-scaffold new "Fail${kind^}" --kind "$kind" --tdd >/dev/null
  failing+=("Fail${kind^}")
done
further() {
  today || return 0
  op-scaffold new "$@" >/dev/null
  names+=("$1")
}
further TryParameters --kind elementwise --input x --input weight --attr alpha:float=0.25 --attr steps:int=3 \
  --attr flag:bool=true --attr label:string=abc --attr sizes:ints
further TryPorts --kind custom --input x --input scale:f32 --output y --output second --attr gain:float=2
# Norms with parameters per column, in every form of rows; an enum and inputs that may be absent; contents.
further TryColumns --kind rowwise --input x:T=floats --input scale:T --input 'bias:T?'
further TryFromAxis --kind rowwise --rows from-axis --input x --input 'scale:=x?' --input 'bias:=x?' \
  --input 'shift:=x?'
further TryGroups --kind rowwise --rows groups --input x:f32 --input scale:f32 --input bias:f32
further TryChoices --kind elementwise --input x --input 'weight?' --attr slope:float=0.5 \
  --attribute 'mode:string=nearest|SAME_UPPER'
further TryContents --kind copy --input x:any --input like:=x --input sizes:i64:contents \
  --input 'axes:contents?' --attr 'mode:string=round_half|floor'
further TryReduceAxes --kind reduce --input x --input 'axes:i64?:contents'
further TryLayoutSizes --kind layout --input x --input sizes:i64:contents
further TryTable --kind custom --input x --input sizes:i64:contents --input 'scale?' --input 'gain:=x?' \
  --input 'axes:contents?' --attr 'mode:string=nearest|linear'
further TryBlank --kind copy --input x --input scale:f32 --output y --output second --attr gain:float=2
further TryAlone --kind custom --input x:f16 --attr factor:int=3
further TryMixed --kind custom --input x --input keys:i64 --input gain --attr bias:float=2
further TryBytes --kind scatter --input data:u8 --input places:i32 --input updates --attr axis:int=-1
further TryFlags --kind scatter --input data:bool --input indices --input updates
further TryWhere --kind argpool --input x:f32 --output largest --output place
further TryInts --kind layout --input x:i32
further TryNarrow --kind gather --input data:u8 --input at_most:i32
further TryHalf --kind composite --input x:f16
op-scaffold new TryLater --kind rowwise --backend cpu >/dev/null
op-scaffold add-backend TryLater vulkan >"$work/add_steps"
op-scaffold new TryOldName --kind reduce >/dev/null
op-scaffold rename TryOldName TryNewName >"$work/rename_steps"
names+=(TryLater TryNewName)
find ops/try_* ops/fail_* ops/unary ops/binary -name '*.cpp' -o -name '*.h' | xargs clang-format --dry-run --Werror

scratch_build 'try_[a-z_]*|fail_[a-z_]*|unary|binary'
op-harness check --op "$(IFS=,; echo "${names[*]}")" --backend "$backends" --json "$work/passing.jsonl"
# Case lines name the line that holds their sub-checks (reports/schema.md).
sed -n 's/^{"checks":\[[^]]*"resize"[^]]*\],\("common":[0-9]*,\).*/\1/p' "$work/passing.jsonl" >"$work/resized"
[ -s "$work/resized" ] || fail "no operator was resized"
for name in "${names[@]}"; do
  for backend in ${backends/,/ }; do
    lines=$(grep "\"op\":\"$name\"" "$work/passing.jsonl" | grep "\"backend\":\"$backend\"" || true)
    grep -q '"status":"pass"' <<<"$lines" || fail "$name did not run on $backend"
    grep -qFf "$work/resized" <<<"$lines" || fail "$name was not resized on $backend"
  done
done
for printed in rename_steps add_steps; do
  [ "$printed$2" = add_stepsOFF ] || steps "$work/$printed" | grep >/dev/null '^ok: ' || fail "the steps of $printed do not work"
done
for name in "${failing[@]}"; do
  code=0
  op-harness check --written --op "$name" --backend "$backends" >"$work/failing.txt" || code=$?
  [ "$code" = 1 ] || { cat "$work/failing.txt"; fail "$name --tdd: expected the check to fail with exit code 1, got $code"; }
done
for name in "${names[@]}" "${failing[@]}"; do op-scaffold remove "$name" >/dev/null; done
scratch_unchanged
scratch_settle

op-scaffold backend try_npu >"$work/steps"
find engine/backend -name '*.cpp' -o -name '*.h' | xargs clang-format --dry-run --Werror
scratch_build 'backend'
steps "$work/steps" >"$work/out" || { cat "$work/out"; fail "the steps that backend prints do not work"; }
grep -q '^try_npu' "$work/out" || fail "op-harness devices does not list try_npu"
tail -n 1 "$work/out"
op-scaffold remove try_npu >/dev/null
scratch_unchanged
echo "${#names[@]} operators and a backend: written, built, checked, removed"
