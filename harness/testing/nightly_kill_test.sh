#!/usr/bin/env bash
# ./nightly, killed at random moments with all its processes: everything that was recorded is in the history or in a kept
# file, and the next start says what it found. Usage: harness/testing/nightly_kill_test.sh [--moments N] SOURCE BIN SCRATCH
set -uo pipefail
moments=3
[ "$1" != --moments ] || { moments=$2; shift 2; }
source=$1 bin=$2 scratch=$3
. "$source/harness/testing/nightly_tree.sh"
nightlyTree "$source" "$bin" "$scratch/tree" Relu
cd "$scratch/tree"
cp tools/short build/release/bin/op-harness
RANDOM=${OPKIT_SEED:-$((16#$(head -c2 /dev/urandom | od -An -tx1 | tr -d ' \n')))}
bad=0 found=0
fail() { echo "nightly_kill_test: $*" >&2; bad=1; }
begin=${EPOCHREALTIME/./}
./nightly --bench-runs 1 >"$scratch/log" 2>&1 || fail "the night itself ended with $?: $(tail -n 5 "$scratch/log")"
took=$(((${EPOCHREALTIME/./} - begin) / 1000))
results=out/nightly/results.jsonl
for ((moment = 0; moment < moments; ++moment)); do
  cp "$results" before.jsonl 2>/dev/null || rm -f before.jsonl
  running=$([ ! -e out/nightly/running ] || echo yes)
  setsid ./nightly --bench-runs 1 >"$scratch/log" 2>&1 &
  night=$!
  delay=$((RANDOM * took / 32768 + 50))
  sleep "$((delay / 1000)).$(printf %03d $((delay % 1000)))"
  pkill -KILL --session "$night"
  wait "$night" 2>/dev/null
  for ((i = 0; i < 100; ++i)); do pgrep --session "$night" >/dev/null || break; sleep 0.1; done
  # The killed start may have been the one that reports the kill before it.
  [ -n "$running" ] && grep -q '^nightly: the night .* was killed and left [0-9]* cases; they are in ' "$scratch/log" && found=$((found + 1))
  [ -s before.jsonl ] && [ -n "$running" ] && ! cmp -s before.jsonl "$results" || continue
  # The start replaced the results of a killed night: the history must hold each whole line of them.
  [ -z "$(tail -c 1 before.jsonl)" ] || sed -i '$d' before.jsonl
  grep -q '"record":"run"' before.jsonl || continue
  said=$("$bin/op-report" add --history out/history.sqlite before.jsonl 2>&1)
  grep -q ': 0 runs added, 0 continued, ' <<<"$said" || fail "after a kill at $delay ms of $took: lost: $said"
done
./nightly --bench-runs 1 >"$scratch/log" 2>&1 || fail "the last night ended with $?: $(tail -n 5 "$scratch/log")"
tail -n 3 "$scratch/log" | grep >/dev/null '^GREEN: ' || fail "the last night is not green: $(tail -n 3 "$scratch/log")"
[ $found -gt 0 ] || [ "$moments" -lt 6 ] || fail "no start said that the night before was killed"
echo "$moments kills within $took ms, $found starts found the night before"
exit $bad
