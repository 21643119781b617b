#!/usr/bin/env bash
# ./nightly, interrupted: the signal's exit code, one line, a page that says INCOMPLETE, nothing left running. Uses the
# tree of this build; setup and build are skipped.
# Usage: harness/testing/nightly_test.sh SOURCE BIN SCRATCH
set -uo pipefail
source=$1 bin=$2 scratch=$3
rm -rf "$scratch"
mkdir -p "$scratch/build/release" "$scratch/tools"
cp "$source/nightly" "$scratch/"
ln -s "$bin" "$scratch/build/release/bin"
for nothing in setup tools/cmake; do
  printf '#!/bin/sh\n' >"$scratch/$nothing"
  chmod +x "$scratch/$nothing"
done
bad=0
fail() { echo "nightly_test: $*" >&2; bad=1; }
results=$scratch/out/nightly/results.jsonl page=$scratch/out/nightly/index.html log=$scratch/log

interrupt() {  # signal, expected code
  rm -rf "$scratch/out"
  # A script's background commands ignore INT unless told otherwise.
  PATH=$scratch/tools:$PATH setsid env --default-signal=INT "$scratch/nightly" >"$log" 2>&1 &
  local nightly=$! code=0
  for ((i = 0; i < 3000; i++)); do
    grep -q '"record":"case"' "$results" 2>/dev/null && break
    sleep 0.1
  done
  pgrep -x op-harness --session "$nightly" >/dev/null || fail "$1: op-harness does not run"
  kill -s "$1" "$nightly"
  wait "$nightly" || code=$?
  [ "$code" = "$2" ] || fail "$1: expected exit code $2, got $code"
  [ "$(grep '^nightly: ' "$log" | grep -vc '^nightly: day ')" = 1 ] || fail "$1: expected one line of nightly besides its day"
  grep -q '^nightly: interrupted; out/nightly/index.html holds what was done$' "$log" || fail "$1: it does not say so"
  grep -q '"outcome":"interrupted"' "$results" || fail "$1: the results have no end"
  grep -q 'INCOMPLETE: .*planned runs never began' "$page" || fail "$1: the page does not say INCOMPLETE"
  pgrep --session "$nightly" >/dev/null && fail "$1: a process was left behind"
  [ $bad = 0 ] || cat "$log"
}
for bad_argument in '--bench-runs 0' '--bench-runs x' '--history /no/such/folder/file' '--networks /no/such' '--nope' \
  '--shard 3/2' '--shard 0/2' '--shard 1' '--merge /no/such' '--quick' '--full --night x' '--night a/b' '--output /dev/null' \
  '--shard 1/2 --merge nightly'; do
  code=0
  "$scratch/nightly" $bad_argument >"$log" 2>&1 || code=$?
  [ "$code" = 2 ] && [ "$(wc -l <"$log")" = 1 ] || fail "$bad_argument: expected one line and 2, got $code: $(cat "$log")"
done
interrupt TERM 143
interrupt INT 130
exit $bad
