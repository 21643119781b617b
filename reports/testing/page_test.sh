#!/usr/bin/env bash
# The report page in a headless Chromium (./setup --page). Without Chromium or its tools it is skipped (exit 77), or fails if
# OPKIT_REQUIRE_PAGE is set.
# Usage: reports/testing/page_test.sh SOURCE BIN SCRATCH
set -uo pipefail
source=$1 bin=$2 scratch=$3
fail() { echo "page_test: $*" >&2; exit 1; }
tools=$source/build/page-tools
if [ ! -f "$tools/complete" ] || ! command -v chromium >/dev/null; then
  [ -z "${OPKIT_REQUIRE_PAGE:-}" ] || fail "no Chromium or tools here; ./setup --page brings them"
  echo "page_test: no Chromium or tools here; ./setup --page brings them"
  exit 77
fi
rm -rf "$scratch"
mkdir -p "$scratch"
scratch=$(realpath "$scratch")
"$bin/op-report" demo "$scratch/demo" >/dev/null || fail "no demonstration"
cat >"$scratch/hopeless.json" <<'END'
{"cases": [{"op": "Softmax", "inputs": [["f32[24,70]"]], "boundScale": 1e-9, "reason": "a bound that must fail"}]}
END
"$bin/op-harness" check --brief --backend cpu --cases "$scratch/hopeless.json" --json "$scratch/failed.jsonl" >/dev/null
"$bin/op-report" build "$scratch/failed.jsonl" --output "$scratch/failed.html" >/dev/null || fail "no page"
awk 'BEGIN { print "name,run,value,commit"; for (n = 1; n <= 12; ++n) for (i = 0; i < 14; ++i) print "sort/" i % 2 "," n "," (100 + (n * 5 + i * 3) % 7 / 5) * (n > 10 ? 1.1 : 1) "," (n > 10 ? "b2" : "a1") }' >"$scratch/numbers.csv"
"$bin/op-report" detect --series "$scratch/numbers.csv" --output "$scratch/numbers.html" >/dev/null
timeout 120 node "$source/reports/testing/page_test.mjs" "$tools" "$scratch/demo/index.html" "$scratch/failed.html" "$scratch/numbers.html" "$scratch"
