#!/usr/bin/env bash
# The report page in a headless Chromium (./setup --page): no message on the console; the search hides other operators and is
# kept in the address; a link opens the operator's details; a head sorts its table; nothing is wider than a phone's screen.
# Without Chromium it is skipped (exit 77).
# Usage: reports/testing/page_test.sh BIN SCRATCH
set -uo pipefail
bin=$1 scratch=$2 bad=0
fail() { echo "page_test: $*" >&2; bad=1; }
command -v chromium >/dev/null || { echo "page_test: no chromium here; ./setup --page installs it"; exit 77; }
rm -rf "$scratch"
mkdir -p "$scratch"
scratch=$(realpath "$scratch")
results=$scratch/results.jsonl
"$bin/op-harness" check --brief --written --op Relu,Softmax --backend cpu --json "$results" >/dev/null || fail "check failed"
"$bin/op-harness" bench --op Relu,Softmax --backend cpu --samples 3 --json "$results" >/dev/null || fail "bench failed"
cat >"$scratch/hopeless.json" <<'END'
{"cases": [{"op": "Softmax", "inputs": [["f32[24,70]"]], "boundScale": 1e-9, "reason": "a bound that must fail"}]}
END
"$bin/op-harness" check --brief --backend cpu --cases "$scratch/hopeless.json" --json "$results" >/dev/null
"$bin/op-report" build "$results" --output "$scratch/page.html" >/dev/null || fail "no page"
# The document after its scripts ran, with `$3` run at its end.
dom() {  # name, what follows the page's address, script
  sed "s|</body>|<script>addEventListener('load', () => { ${3:-} });</script></body>|" "$scratch/page.html" >"$scratch/$1.html"
  HOME=$scratch timeout 60 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --window-size=390,900 \
    --enable-logging=stderr --virtual-time-budget=3000 --dump-dom "file://$scratch/$1.html$2" \
    >"$scratch/$1.dom" 2>"$scratch/$1.err" || fail "$1: chromium ended with $?: $(tail -n 3 "$scratch/$1.err")"
  ! grep CONSOLE "$scratch/$1.err" || fail "$1: a message on the console"
}
hidden() { grep -o "<$1[^>]*data-op=\"$2\"[^>]*>" "$scratch/$3.dom" | grep -c ' hidden'; }
dom plain ''
[ "$(hidden details Relu plain)$(hidden details Softmax plain)" = 00 ] || fail "an operator is hidden without a search"
dom search '?q=soft'
[ "$(hidden details Relu search)$(hidden details Softmax search)" = 10 ] || fail "the search does not hide Relu alone"
[ "$(hidden tr Relu search)$(hidden tr Softmax search)" = 10 ] || fail "the search leaves the matrix as it is"
dom typed '' 'search.value = "rel"; search.dispatchEvent(new Event("input")); document.title = location.search;'
[ "$(hidden details Relu typed)$(hidden details Softmax typed)" = 01 ] || fail "typing does not search"
grep -q '<title>?q=rel</title>' "$scratch/typed.dom" || fail "the search is not in the address"
dom link '#Softmax'
grep -q '<details class="operator" data-op="Softmax" open' "$scratch/link.dom" || fail "a link does not open its operator"
grep -q '<details class="operator" data-op="Relu">' "$scratch/link.dom" || fail "a link opens another operator"
dom both '?q=relu#Softmax'
[ "$(hidden details Softmax both)" = 0 ] || fail "a link to an operator that the search hides leads nowhere"
dom sorted '' 'const table = document.querySelector(".matrix table"); table.rows[0].cells[0].click(); table.rows[0].cells[0].click(); document.title = table.rows[1].dataset.op;'
grep -q '<title>Softmax</title>' "$scratch/sorted.dom" || fail "a head does not sort its table"
dom width '' 'for (const one of document.querySelectorAll("details")) one.open = true; document.title = `width ${document.documentElement.scrollWidth - innerWidth}`;'
grep -qE '<title>width (-[0-9]+|0)</title>' "$scratch/width.dom" || fail "wider than 390 pixels: $(grep -o '<title>[^<]*' "$scratch/width.dom")"
# Each link of the page lands.
grep -oE 'href="#[^"]+"' "$scratch/plain.dom" | sed 's/href="#//; s/"$//' | sort -u | while IFS= read -r anchor; do
  grep -qF "id=\"$anchor\"" "$scratch/plain.dom" || { fail "#$anchor lands nowhere"; exit 1; }
done || bad=1
exit $bad
