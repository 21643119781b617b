#!/usr/bin/env bash
# onnxruntime.sh without the network: a stand-in for npm copies a package with networks of the zoo and a stand-in for ONNX
# Runtime, which computes on OpKit's oracles. Usage: reports/peers/testing/peer_times_test.sh SOURCE BIN SCRATCH.
# Exit code 77 without node.
set -uo pipefail
source=$(realpath "$1") bin=$(realpath "$2") scratch=$3
command -v node >/dev/null || { echo "peer_times_test: node is not installed" >&2; exit 77; }
rm -rf "$scratch"
mkdir -p "$scratch/tools" "$scratch/registry/zoo/models"
scratch=$(realpath "$scratch")
export OPKIT_BIN=$bin OPKIT_PEERS=$source/reports/peers OPKIT_CACHE_DIR=off TMPDIR=$scratch
bad=0
fail() { echo "peer_times_test: $*" >&2; bad=1; }

cp -r "$source/reports/peers/testing/onnxruntime-node" "$scratch/registry/"
models=$scratch/registry/zoo/models
"$bin/op-convert" zoo:transformer "$models/plain.onnx" >/dev/null || fail "op-convert"
for name in differs refused; do cp "$models/plain.onnx" "$models/$name.onnx"; done
cat >"$scratch/tools/npm" <<STUB
#!/bin/sh
mkdir node_modules && cp -r "$scratch/registry/." node_modules/
STUB
chmod +x "$scratch/tools/npm"
export PATH=$scratch/tools:$PATH
cat >"$scratch/one.json" <<'TABLE'
{"packages": {"onnxruntime-node": "0.0.1", "zoo": "1.0.0"},
 "networks": [{"name": "plain", "file": "zoo/models/plain.onnx", "inputs": {"input": {"scale": 2}}},
              {"name": "differs", "file": "zoo/models/differs.onnx", "inputs": {}},
              {"name": "refused", "file": "zoo/models/refused.onnx", "inputs": {}}]}
TABLE
cat >"$scratch/two.json" <<'TABLE'
{"packages": {"onnxruntime-node": "0.0.1"}, "networks": [{"name": "of_the_zoo", "zoo": "decoder", "inputs": {}},
                                                         {"name": "nowhere", "zoo": "nowhere", "inputs": {}}]}
TABLE
peers=$source/reports/peers/onnxruntime.sh record=$scratch/record.tsv
standard=(--cache "$scratch/cache" --table "$scratch/one.json,$scratch/two.json" --bin "$bin" --rounds 1 --record "$record")

# refuses TEXT ARGUMENT...: exit code 2 and one line that holds TEXT.
refuses() {
  local text=$1 code=0
  shift
  "$peers" "${standard[@]}" "$@" >"$scratch/out" 2>"$scratch/err" || code=$?
  [ "$code" = 2 ] && [ "$(wc -l <"$scratch/err")" = 1 ] && grep -qF -- "$text" "$scratch/err" ||
    fail "$*: expected exit code 2 and one line with '$text', got $code: $(cat "$scratch/err")"
}
refuses "unknown argument '--nope'" --nope
refuses '--threads expects numbers from 1 to 999' --threads 0
refuses '--rounds expects a number' --rounds x
refuses '--nodes expects a number' --nodes -1
refuses 'one is no JSON file with packages and networks' --table "$scratch/one.json,$peers"
refuses "no table has a network 'absent'" --network plain,absent
refuses "no op-convert and op-run in '/'" --bin /

# One network differs, one does not run, one is none of the zoo: the others are timed, and the exit code says so.
code=0
"$peers" "${standard[@]}" --threads 1,2 --nodes 2 >"$scratch/out" 2>&1 || code=$?
[ "$code" = 1 ] || fail "expected exit code 1 for the network that differs, got $code: $(cat "$scratch/out")"
node - "$record" <<'CHECK' || bad=1
const lines = require('fs').readFileSync(process.argv[2], 'utf8').trim().split('\n');
const failures = [], check = (good, text) => { if (!good) failures.push(text); };
const rows = lines.filter((line) => !line.startsWith('#')).slice(1).map((line) => line.split('\t'));
const of = (name, threads) => rows.find((row) => row[0] === name && row[1] === threads) ?? [];
check(lines.filter((line) => line.startsWith('#')).length === 2, 'expected two lines in front');
check(lines[0].includes('ONNX Runtime 0.0.1'), `no version: ${lines[0]}`);
for (const name of ['plain', 'of_the_zoo'])
  for (const threads of ['1', '2']) {
    const [, , theirs, ours, ratio] = of(name, threads);
    check(theirs > 0 && ours > 0 && Math.abs(ratio - ours / theirs) < 0.02 * ratio, `${name}, ${threads} threads: no times`);
  }
check(/^\w+ \S+ [0-9.]+, \w+ \S+ [0-9.]+$/.test(of('plain', '1')[6]), `dearest nodes: ${of('plain', '1')[6]}`);
check(of('plain', '1')[7] === 'Stand in_1 0.00300, Stand in_0 0.00200', `of the peer: ${of('plain', '1')[7]}`);
for (const [name, reason] of [['differs', /differ/], ['refused', /refused/], ['nowhere', /the zoo has no network/]])
  check(reason.test(of(name, '')[6]), `${name}: ${of(name, '')[6]}`);
check(rows.length === 7, `expected 7 rows, got ${rows.length}`);
for (const text of failures) console.error(`peer_times_test: ${text}`);
process.exit(failures.length > 0 ? 1 : 0);
CHECK
grep -q '^2 threads: .* in the geometric mean of 2 networks' "$scratch/out" || fail "no geometric mean: $(cat "$scratch/out")"
code=0
"$peers" "${standard[@]}" --network refused >"$scratch/out" 2>&1 || code=$?
[ "$code" = 3 ] || fail "nothing timed: expected exit code 3, got $code"
[ -z "$(find "$scratch" -maxdepth 1 -name 'tmp.*' -o -maxdepth 1 -name 'session-*')" ] || fail "a temporary folder was left"
exit $bad
