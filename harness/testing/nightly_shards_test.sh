#!/usr/bin/env bash
# The shards of ./nightly, merged, are the whole night but for times; the last three lines say what matters.
# Usage: harness/testing/nightly_shards_test.sh SOURCE BIN SCRATCH
set -uo pipefail
source=$1 bin=$2 scratch=$3
. "$source/harness/testing/nightly_tree.sh"
nightlyTree "$source" "$bin" "$scratch/tree" Relu,Not
cd "$scratch/tree"
bad=0
fail() { echo "nightly_shards_test: $*" >&2; bad=1; }
night() {  # log, arguments...
  local log=$scratch/$1 code=0
  shift
  ./nightly "$@" >"$log" 2>&1 || code=$?
  [ $code = 0 ] || { fail "./nightly $* ended with $code:"; tail -n 20 "$log" >&2; }
}
same='--night 2026-01-02 --bench-runs 1'
night whole $same --output whole --history whole.sqlite
tail -n 3 "$scratch/whole" | head -n 1 | grep >/dev/null '^GREEN: [0-9]* cases recorded, none failed.$' || fail "whole: no verdict"
tail -n 2 "$scratch/whole" | grep >/dev/null '^The first night of this history: nothing to compare with.$' || fail "whole: no changes"
tail -n 1 "$scratch/whole" | grep >/dev/null '^All [0-9]* runs reached their end: \([0-9]*\) planned = \1 recorded = [0-9]* passed' ||
  fail "whole: what was planned is not what was recorded: $(tail -n 1 "$scratch/whole")"
night first $same --shard 1/2
night second $same --shard 2/2
parts='out/nightly/shard-1-of-2/results.jsonl out/nightly/shard-2-of-2/results.jsonl'
night merged --merge $parts --output merged --history merged.sqlite
mergedIsWhole "$bin" "$scratch/compared" whole/results.jsonl merged/results.jsonl $parts || bad=1

# A shard that is missing or cut is seen: its page is not green.
code=0
./nightly --merge out/nightly/shard-1-of-2/results.jsonl --output half --history half.sqlite >"$scratch/half" 2>&1 || code=$?
[ $code = 1 ] && tail -n 3 "$scratch/half" | grep >/dev/null '^INCOMPLETE: .*; 1 of 2 shards is missing, first 2/2\. [0-9]* planned' ||
  fail "a shard that is missing: expected 1 and INCOMPLETE, got $code: $(tail -n 3 "$scratch/half")"
code=0
sed '$d' out/nightly/shard-2-of-2/results.jsonl >cut.jsonl
./nightly --merge out/nightly/shard-1-of-2/results.jsonl cut.jsonl --output cut --history cut.sqlite >"$scratch/cut" 2>&1 || code=$?
[ $code = 1 ] && grep -q '^INCOMPLETE: ' "$scratch/cut" || fail "a shard that was cut: expected 1 and INCOMPLETE, got $code"

cp tools/short build/release/bin/op-harness
night runs --bench-runs 4 --night some-name
grep -q '^A/A: ' "$scratch/runs" || fail "--bench-runs 4: no A/A"
grep -qE '== op-harness conformance --backend vulkan --shard=[1-4]/4' "$scratch/runs" || fail "conformance takes no quarter"
[ "$(grep -c '== op-harness model zoo:' "$scratch/runs")" = 5 ] || fail "not five networks"
exit $bad
