#!/usr/bin/env bash
# Asks ONNX Runtime's CPU provider a third of all written cases, another each day, and runs the programs of docs/found. Faults of
# the provider are no failure of the night: few operators that ran, or a run that did not end well, are.
# Usage: foreign.sh BIN OUT DAY
set -euo pipefail
bin=$1 out=$2 day=$3
mkdir -p "$out"
library=$(./setup --ort) || { echo "foreign: ./setup --ort brings no library here"; exit 1; }
code=0
"$bin/op-harness" check --ort "$library" --ep cpu --shard "$((day % 3 + 1))/3" --budget none --json "$out/results.jsonl" \
  >"$out/check.log" 2>&1 || code=$?
tail -n 3 "$out/check.log"
[ "$code" -le 1 ] || { echo "foreign: op-harness ended with $code; see $out/check.log"; exit 1; }
ran=$(sed -n 's/.*; \([0-9]*\) of [0-9]* operators ran$/\1/p' "$out/check.log")
[ "${ran:-0}" -ge 150 ] || { echo "foreign: ${ran:-no} operators ran, expected 150"; exit 1; }
harness/guest/found_test.sh . build/ort-tools/node_modules
