#!/usr/bin/env bash
# Whether docs/ops.md agrees with the build and with a run of some operators; prints one line per difference.
# Usage: reports/testing/ops_page.sh PAGE BIN SCRATCH BACKENDS
# OPKIT_OPS_PAGE=all runs the cases of every operator, as the page was made (10 minutes).
set -euo pipefail
page=$1 bin=$2 results=$3/results.jsonl backends=$4
# One of each: two dtypes and partial refusals, a norm, a loop, regions, a condition. Their cases take seconds.
operators=(--op "Pow,InstanceNormalization,Gather,Concat,Where")
[ "${OPKIT_OPS_PAGE:-}" != all ] || operators=()
devices=$("$bin/op-harness" devices)
if [ "$backends" != cpu ] && [ -z "${OPKIT_REQUIRE_VULKAN:-}" ] && ! grep -q '^vulkan  *[0-9]' <<<"$devices"; then
  echo "ops_page: no Vulkan device: only the CPU is run"
  backends=cpu
fi
mkdir -p "$3"
rm -f "$results"
"$bin/op-harness" check --written --jobs 2 --backend "$backends" "${operators[@]}" --json "$results" >"$3/check.log" ||
  { cat "$3/check.log"; exit 1; }
"$bin/op-report" ops "$results" --check "$page"
# An update with this run leaves the page as it is, but for rows of the run's operators and the line that names them.
cp "$page" "$3/ops.md"
"$bin/op-report" ops "$results" --update "$3/ops.md" >/dev/null
"$bin/op-report" ops "$results" --check "$3/ops.md" >/dev/null
changed=$(diff "$page" "$3/ops.md" | grep '^[<>]' || true)
[ "${OPKIT_OPS_PAGE:-}" = all ] || [ "$(wc -l <<<"$changed")" -le 30 ] ||
  { echo "ops_page: --update changed more than the rows of five operators:"; echo "$changed"; exit 1; }
