#!/usr/bin/env bash
# The figures of the page, of `op-report show` and of `op-report compare` against figures.py, which computes them from the raw
# lines and shares no code with op-report: of a few operators on the CPU, and of lines that hold every status, several process
# runs of one case (an even and an odd number), skips beside refusals, NaN and infinite errors.
# Usage: reports/testing/figures_test.sh BIN SCRATCH
set -uo pipefail
bin=$1 scratch=$2
fail() { echo "figures_test: $*" >&2; exit 1; }
rm -rf "$scratch"
mkdir -p "$scratch"
results=$scratch/results.jsonl
export OPKIT_CACHE_DIR=off
"$bin/op-harness" check --brief --written --op Relu,CumSum --backend cpu --json "$results" >/dev/null || fail "check failed"
for _ in 1 2; do
  "$bin/op-harness" bench --op Relu --backend cpu --samples 3 --json "$results" >/dev/null || fail "bench failed"
done
# line KIND OP SHAPE BACKEND STATUS FURTHER: a case of the run that began last.
line() {
  printf '{"record":"case","run":"%s","kind":"%s","id":"%s/f32[%s]","op":"%s","dtype":"f32","backend":"%s","status":"%s"%s}\n' \
    "$run" "$1" "$2" "$3" "$2" "$4" "$5" "${6:+,$6}"
}
begin() {
  run=$1
  printf '{"record":"run","schema":3,"run":"%s","command":"%s","started":"2026-01-01T00:00:00Z"}\n' "$run" "$2"
}
end() { printf '{"record":"summary","run":"%s","outcome":"complete"}\n' "$run"; }
# timing NAME MIN MEDIAN: samples of which the first is neither the least nor the median.
timing() { printf '"%s":{"min":%s,"median":%s,"mad":1,"samples":[%s9,%s,%s]}' "$1" "$2" "$3" "$3" "$2" "$3"; }
{
  begin 00000000000000aa check
  n=0
  for status in pass fail crash hang unsupported skip fallback mistrusted unproved expected flake unexpected; do
    for backend in cpu vulkan vulkan; do
      n=$((n + 1))
      line check HandEndings $n $backend $status "\"reason\":\"why $status\",\"provider\":\"p$((n % 2))\",\"kernel\":\"k\""
    done
  done
  for i in 1 2 3 4 5; do line check HandSkips $i cpu skip '"reason":"left out"'; done
  for i in 6 7; do line check HandSkips $i cpu unsupported '"reason":"refused"'; done
  line check HandSkips 8 cpu pass
  line check HandErrors 1 cpu pass '"accuracy":{"margin":0.125,"maxUlp":3.5}'
  line check HandErrors 2 cpu pass '"accuracy":{"margin":0.8125,"maxUlp":0.75}'
  line check HandErrors 3 cpu pass '"accuracy":{"margin":0.5,"maxUlp":12345.6}'
  line check HandErrors 4 vulkan fail '"accuracy":{"margin":"nan","maxUlp":"inf"},"reason":"nan"'
  line check HandErrors 5 vulkan pass '"accuracy":{"margin":0.25,"maxUlp":1}'
  end
  # Process runs of one case: 5 of the first, 4 of the second, 1 of the third.
  for i in 1 2 3 4 5; do
    begin "00000000000000b$i" bench
    wall=$((1000 * (i * 3 % 5) + 700000)) device=$((900 * (i * 3 % 5) + 300000))
    times="\"times\":{$(timing create 5${i}00 6${i}00),$(timing resizeCold 7${i}0000 8${i}0000),$(timing resizeWarm 7${i} 8${i})"
    times+=",$(timing executeWall $((wall - 500 - 37 * i)) $wall),$(timing executeDevice $((device - 400 - 29 * i)) $device)}"
    further='"provider":"hand","kernel":"rows","flops":8e6,"bytes":3e5,"roofline":0.0625'
    line bench HandTimed 1 cpu pass "$further,$times"
    [ $i = 5 ] || line bench HandTimed 2 cpu pass "\"provider\":\"hand\",\"flops\":2e9,$times"
    [ $i != 3 ] || line bench HandTimed 3 vulkan pass "\"provider\":\"hand\",\"bytes\":4096,\"times\":{$(timing executeWall 90 100)}"
    [ $i != 3 ] || line bench HandTimed 4 vulkan unsupported '"reason":"no kernel"'
    end
  done
} >>"$results"
python3 "$(dirname "$0")/figures.py" "$bin/op-report" "$results" "$scratch"
