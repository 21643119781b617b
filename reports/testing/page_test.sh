#!/usr/bin/env bash
# The report page in a headless Chromium (./setup --page). Without Chromium or its tools it is skipped (exit 77).
# Usage: reports/testing/page_test.sh SOURCE BIN SCRATCH
set -uo pipefail
source=$1 bin=$2 scratch=$3
fail() { echo "page_test: $*" >&2; exit 1; }
tools=$source/build/page-tools
[ -f "$tools/complete" ] && command -v chromium >/dev/null || { echo "page_test: no Chromium or tools here; ./setup --page brings them"; exit 77; }
rm -rf "$scratch"
mkdir -p "$scratch"
scratch=$(realpath "$scratch")
cat >"$scratch/hopeless.json" <<'END'
{"cases": [{"op": "Softmax", "inputs": [["f32[24,70]"]], "boundScale": 1e-9, "reason": "a bound that must fail"}]}
END
for night in monday tuesday wednesday thursday; do
  results=$scratch/$night.jsonl
  echo "{\"record\":\"plan\",\"night\":\"$night\"}" >"$results"
  "$bin/op-harness" check --brief --written --op Relu,Softmax --backend cpu --json "$results" >/dev/null || fail "check failed"
  for run in 1 2; do
    "$bin/op-harness" bench --op Relu,Softmax --backend cpu --samples 3 --json "$results" >/dev/null || fail "bench failed"
  done
  "$bin/op-report" add --history "$scratch/history.sqlite" "$results" >/dev/null || fail "add failed"
done
"$bin/op-harness" check --brief --backend cpu --cases "$scratch/hopeless.json" --json "$results" >/dev/null
"$bin/op-report" build "$results" --history "$scratch/history.sqlite" --output "$scratch/page.html" --data "$scratch/data.json" >/dev/null || fail "no page"
timeout 120 node "$source/reports/testing/page_test.mjs" "$tools" "$scratch/page.html" "$scratch"
