#!/usr/bin/env bash
# trained.sh without the network: a stand-in for npm copies packages with networks of the zoo, a stand-in for ONNX Runtime
# runs them. Usage: reports/peers/testing/trained_test.sh SOURCE BIN SCRATCH BACKENDS. Exit code 77 without node.
set -uo pipefail
source=$(realpath "$1") bin=$(realpath "$2") scratch=$3 backends=$4
command -v node >/dev/null || { echo "trained_test: node is not installed" >&2; exit 77; }
rm -rf "$scratch"
mkdir -p "$scratch/tools" "$scratch/registry/zoo/models" "$scratch/temporary"
scratch=$(realpath "$scratch")
export OPKIT_BIN=$bin OPKIT_PEERS=$source/reports/peers OPKIT_CACHE_DIR=off TMPDIR=$scratch/temporary
trained=$source/reports/peers/trained.sh results=$scratch/out.jsonl
bad=0
fail() { echo "trained_test: $*" >&2; bad=1; }

# A registry with two packages, and an npm that counts its calls.
cp -r "$source/reports/peers/testing/onnxruntime-node" "$scratch/registry/"
models=$scratch/registry/zoo/models
"$bin/op-convert" zoo:transformer "$models/transformer.onnx" >/dev/null || fail "op-convert"
for name in differs refused free; do cp "$models/transformer.onnx" "$models/$name.onnx"; done
# A graph of one node: op_type NoSuchThing, output y.
printf '\x08\x08\x3a\x19\x0a\x10\x12\x01y\x22\x0bNoSuchThing\x62\x03\x0a\x01y\x12\x00\x42\x04\x0a\x00\x10\x11' >"$models/foreign.onnx"
cat >"$scratch/tools/npm" <<STUB
#!/bin/sh
echo "\$*" >>"$scratch/npm_calls"
[ ! -e "$scratch/no_network" ] || { echo "npm error code ENOTFOUND" >&2; exit 1; }
mkdir node_modules && cp -r "$scratch/registry/." node_modules/
STUB
chmod +x "$scratch/tools/npm"
export PATH=$scratch/tools:$PATH
cat >"$scratch/table.json" <<'TABLE'
{"packages": {"onnxruntime-node": "0.0.1", "zoo": "1.0.0"},
 "networks": [{"name": "short", "file": "zoo/models/transformer.onnx", "inputs": {"input": {"scale": 2}}}]}
TABLE
standard=(--cache "$scratch/cache" --table "$scratch/table.json" --output "$scratch/out" --bin "$bin" --backend "$backends"
  --rounds 1)

# refuses TEXT ARGUMENT...: exit code 2, one line that holds TEXT, and no cache.
refuses() {
  local text=$1 code=0
  shift
  "$trained" "${standard[@]}" "$@" >"$scratch/said" 2>&1 || code=$?
  [ "$code" = 2 ] || fail "$*: expected exit code 2, got $code"
  [ "$(wc -l <"$scratch/said")" = 1 ] && grep -qF -- "$text" "$scratch/said" ||
    fail "$*: expected one line with '$text', got: $(cat "$scratch/said")"
  [ ! -e "$scratch/cache" ] || fail "$*: a cache was left"
  [ -z "$(find "$scratch" -maxdepth 1 -name 'cache.*')" ] || fail "$*: a half-made cache was left"
}
touch "$scratch/no_network"
refuses 'npm cannot fetch the packages: code ENOTFOUND'
rm "$scratch/no_network"
refuses "unknown argument '--nope'" --nope
refuses '--rounds expects a number' --rounds -1
refuses '--level expects none, basic or extended' --level basic,all
refuses '--backend expects names' --backend 'cpu;ls'
refuses "no op-harness and op-run in '/'" --bin /
refuses 'is no JSON file with packages and networks' --table "$trained"
refuses 'holds something else' --output "$scratch/registry"
refuses '--cache expects a value' --cache
mkdir "$scratch/bare" && for tool in bash dirname ls; do ln -s "$(command -v $tool)" "$scratch/bare/"; done
PATH=$scratch/bare "$BASH" "$trained" "${standard[@]}" >"$scratch/said" 2>&1
[ "$(cat "$scratch/said")" = 'trained.sh: needs node and npm: ./setup --trained installs them' ] || fail "without npm"

# --level: OpKit runs what the optimiser wrote; nothing is timed. The stand-in's optimiser adds its name as the producer.
mkdir -p "$scratch/registry/one" && cp "$models/transformer.onnx" "$scratch/registry/one/plain.onnx"
echo '{"packages": {"onnxruntime-node": "0.0.1", "one": "1.0.0"}, "networks": []}' >"$scratch/one.json"
"$trained" "${standard[@]}" --cache "$scratch/one_cache" --table "$scratch/one.json" --output "$scratch/one" --rounds 0 \
  --level none,extended >"$scratch/log" 2>&1 || { fail "--level: exit code $?"; cat "$scratch/log" >&2; }
grep -q optimiser:extended "$scratch/one/networks/trained/plain_extended/model.onnx" || fail "--level: not the optimiser's file"
grep -q optimiser "$scratch/one/networks/trained/plain/model.onnx" && fail "--level none: an optimised file"
for name in plain plain_extended; do
  grep -q "\"id\":\"trained/$name\",\"kind\":\"conformance\".*\"status\":\"pass\"" \
    "$scratch/one.jsonl" || fail "--level: $name does not pass"
done
grep -q '"kind":"bench"' "$scratch/one.jsonl" && fail "--rounds 0 timed something"

# The whole thing.
rm -f "$scratch/npm_calls"
code=0
"$trained" "${standard[@]}" >"$scratch/log" 2>&1 || code=$?
[ "$code" = 1 ] || { fail "expected exit code 1 for the network that differs, got $code"; cat "$scratch/log" >&2; }
grep -qx 'install --ignore-scripts --no-audit --no-fund --no-package-lock --fetch-retries 1' "$scratch/npm_calls" || fail "npm was not asked"
grep -q 'a warning that no log' "$scratch/log" && fail "the peer's warnings are in the log"
[ -z "$(ls -A "$TMPDIR")" ] || fail "a temporary file was left"
for name in short differs foreign; do
  [ -e "$scratch/out/networks/trained/$name/test_data_set_0/output_0.pb" ] || fail "$name: no backend test"
done
[ ! -e "$scratch/out/networks/trained/refused" ] || fail "refused: a half-made backend test"
node - "$results" "$backends" <<'CHECK' || bad=1
const [path, backends] = process.argv.slice(2);
const lines = require('fs').readFileSync(path, 'utf8').trim().split('\n').map(JSON.parse);
const failures = [];
const find = (kind, name, backend) =>
    lines.find((line) => line.kind === kind && line.id === `trained/${name}` && line.backend === backend) ?? {};
const check = (good, text) => { if (!good) failures.push(text); };
for (const backend of backends.split(',')) {
  const status = (kind, name, expected) =>
      check(find(kind, name, backend).status === expected, `${kind} ${name} on ${backend} is not ${expected}`);
  status('conformance', 'short', 'pass');
  status('model', 'short', 'pass');
  status('bench', 'short', 'pass');
  check(find('model', 'short', backend).layers?.length > 20, 'short: too few tensors');
  check(find('bench', 'short', backend).times?.executeWall.samples.length === 15, 'short: expected 15 samples');
  status('conformance', 'foreign', 'unsupported');
  check(find('conformance', 'foreign', backend).reason?.includes('NoSuchThing'), 'foreign: no operator is named');
  status('conformance', 'differs', 'fail');
  status('bench', 'differs', undefined);
  const {layers = [], reason = ''} = find('model', 'differs', backend);
  const first = layers.findIndex((layer) => layer.status === 'fail');
  check(first >= 3 && first < 10, `differs: tensor ${first} of ${layers.length} is the first to depart`);
  check(reason.startsWith(`'${layers[first]?.tensor}' (${layers[first]?.op}) is the first to depart`), `differs: ${reason}`);
  status('conformance', 'refused', 'skip');
  check(find('conformance', 'refused', backend).reason === 'ONNX Runtime: this network is refused', 'refused: reason');
  status('conformance', 'free', 'skip');
  check(find('conformance', 'free', backend).reason?.includes('free extents (batch)'), 'free: reason');
}
check(find('bench', 'short', 'onnxruntime').provider === '0.0.1', 'the peer has no times');
for (const text of failures) console.error(`trained_test: ${text}`);
process.exit(failures.length > 0 ? 1 : 0);
CHECK
"$bin/op-report" build "$results" --output "$scratch/index.html" >/dev/null || fail "op-report"
grep -q INCOMPLETE "$scratch/index.html" && fail "the page says INCOMPLETE"
for text in onnxruntime NoSuchThing 'first to depart from ONNX Runtime'; do
  grep -q "$text" "$scratch/index.html" || fail "the page does not show '$text'"
done

# ./nightly --trained, in a tree of stand-ins: installs npm, runs it with the night's results, and plans its two runs.
tree=$scratch/tree
mkdir -p "$tree/build/release/bin" "$tree/build/release/harness" "$tree/harness/testing" "$tree/reports/peers" "$tree/tools"
cp "$source/nightly" "$tree/"
for program in setup tools/cmake build/release/bin/{op-harness,op-report} build/release/harness/planted_test \
    harness/testing/hostile_test.sh reports/peers/trained.sh; do
  printf '#!/bin/sh\necho "${0##*/} $*" >>%q\n' "$tree/calls" >"$tree/$program"
  chmod +x "$tree/$program"
done
plans=()
for option in '' --trained; do
  PATH=$tree/tools:$PATH "$tree/nightly" $option >"$scratch/log" 2>&1 || fail "nightly $option: $(tail -n 1 "$scratch/log")"
  plans+=("$(sed -n 's/^{"record":"plan","runs":\([0-9]*\)[,}].*/\1/p' "$tree/out/nightly/results.jsonl")")
  [ -n "$option" ] || ! grep -q trained "$tree/calls" || fail "nightly runs trained.sh unasked"
done
[ "${plans[1]}" = $((plans[0] + 2)) ] || fail "nightly --trained plans ${plans[1]} runs after ${plans[0]}"
for call in 'setup --trained' 'trained.sh --output out/nightly/trained --json out/nightly/results.jsonl'; do
  grep -qxF -- "$call" "$tree/calls" || fail "nightly --trained does not run '$call'"
done
printf '#!/bin/sh\nexit 1\n' >"$tree/reports/peers/trained.sh"
PATH=$tree/tools:$PATH "$tree/nightly" --trained >"$scratch/log" 2>&1 && fail "nightly forgets a failure of trained.sh"
grep -qx 'nightly: failed: trained.sh' "$scratch/log" || fail "nightly does not name trained.sh"

# The next night: no network. Then an interrupt keeps what was done.
touch "$scratch/no_network"
rm -f "$results"
setsid env --default-signal=INT "$trained" "${standard[@]}" --rounds 9999 >"$scratch/log" 2>&1 &
child=$!
for ((i = 0; i < 600; i++)); do grep -q '"command":"trained"' "$results" 2>/dev/null && break; sleep 0.1; done
kill -s TERM -- "-$child"
code=0
wait "$child" || code=$?
[ "$code" = 143 ] || { fail "interrupted: expected exit code 143, got $code"; cat "$scratch/log" >&2; }
tail -n 1 "$results" | grep >/dev/null '"outcome":"interrupted"' || fail "interrupted: the results have no end"
[ "$(wc -l <"$scratch/npm_calls")" = 1 ] || fail "npm was asked again"
exit $bad
