#!/usr/bin/env bash
# The page of a large history: prints the seconds and bytes of making it and, with Chromium (./setup --page), the times of opening and
# filtering it. Fails if the page is larger than 25 MiB or has no series. Timings are for people; they fail nothing.
# Usage: reports/testing/large_page_test.sh SOURCE BIN SCRATCH [SERIES NIGHTS]
set -euo pipefail
source=$1 bin=$2 scratch=$3 series=${4:-10000} nights=${5:-365}
tools=$source/build/page-tools
rm -rf "$scratch"
begin=$SECONDS
"$bin/op-report" demo "$scratch" --series "$series" --nights "$nights" >/dev/null
echo "history and page of $series series and $nights nights: $((SECONDS - begin)) s, $(stat -c %s "$scratch/history.sqlite") bytes"
begin=$SECONDS
"$bin/op-report" build "$scratch/results.jsonl" --history "$scratch/history.sqlite" --output "$scratch/index.html" >/dev/null 2>&1
bytes=$(stat -c %s "$scratch/index.html")
echo "page: $((SECONDS - begin)) s, $bytes bytes"
[ "$bytes" -le $((25 << 20)) ] || { echo "large_page_test: $bytes bytes are more than 25 MiB" >&2; exit 1; }
if [ -f "$tools/complete" ] && command -v chromium >/dev/null; then
  HOME=$scratch timeout 300 node "$source/reports/testing/large_page_test.mjs" "$tools" "$scratch/index.html"
fi
rm -f "$scratch/history.sqlite" "$scratch/results.jsonl"
