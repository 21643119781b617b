#!/usr/bin/env bash
# hunt.sh without the network: a stand-in for npm copies a stand-in for ONNX Runtime, which computes on OpKit's oracles and takes
# inputs of f32 and i64. Usage: reports/peers/testing/hunt_test.sh SOURCE BIN SCRATCH. Exit code 77 without node.
set -uo pipefail
source=$(realpath "$1") bin=$(realpath "$2") scratch=$3
command -v node >/dev/null || { echo "hunt_test: node is not installed" >&2; exit 77; }
rm -rf "$scratch"
mkdir -p "$scratch/tools" "$scratch/registry" "$scratch/temporary"
scratch=$(realpath "$scratch")
export OPKIT_BIN=$bin OPKIT_PEERS=$source/reports/peers OPKIT_CACHE_DIR=off TMPDIR=$scratch/temporary
bad=0
fail() { echo "hunt_test: $*" >&2; bad=1; }

cp -r "$source/reports/peers/testing/onnxruntime-node" "$scratch/registry/"
cat >"$scratch/tools/npm" <<STUB
#!/bin/sh
[ ! -e "$scratch/no_network" ] || { echo "npm error code ENOTFOUND" >&2; exit 1; }
mkdir node_modules && cp -r "$scratch/registry/." node_modules/
STUB
chmod +x "$scratch/tools/npm"
export PATH=$scratch/tools:$PATH
record=$scratch/record.tsv

# runs CODE TEXT ARGUMENT...: that exit code, and TEXT in the output.
runs() {
  local expected=$1 text=$2 code=0
  shift 2
  "$source/reports/peers/hunt.sh" --cache "$scratch/cache" --bin "$bin" --record "$record" --turn 1 --rounds 1 --count 1 --seed 7 "$@" \
    >"$scratch/said" 2>&1 || code=$?
  [ "$code" = "$expected" ] || fail "$*: expected exit code $expected, got $code: $(tail -n 3 "$scratch/said")"
  grep -qF -- "$text" "$scratch/said" || fail "$*: expected '$text', got: $(tail -n 3 "$scratch/said")"
}
touch "$scratch/no_network"
runs 2 'npm cannot fetch the packages: code ENOTFOUND' --operators Relu
rm "$scratch/no_network"
[ ! -e "$scratch/cache" ] || fail "a cache was left"
runs 2 "unknown argument '--nope'" --nope
runs 2 '--seed expects a value' --seed
runs 2 "--count expects a number from 1 to 999999, got '0'" --count 0
runs 2 "--draws expects numbers separated by commas, got '1,x'" --draws 1,x
runs 2 '--threads expects numbers from 1 to 999' --threads 0
runs 2 "no op-run in '/'" --bin /
runs 2 "--record: cannot write '$scratch'" --record "$scratch"
runs 2 "--keep: cannot write '$bin/op-run/kept/.written'" --keep "$bin/op-run/kept"
runs 2 "no entry of hunt_cases.mjs is called 'Nowhere'" --operators Relu,Nowhere

# An operator, one form of another, one whose inputs the stand-in refuses; a draw repeats itself.
runs 0 '2 cases timed, 0 differ, 0 not run, 1 not judged' --operators 'Sigmoid,Pad edge,Not' --threads 1,2 --keep "$scratch/kept"
grep -qE '^Sigmoid +2 +[0-9.]+ +[0-9.]+  [0-9x]+, [12] threads$' "$scratch/said" || fail "no summary of Sigmoid: $(cat "$scratch/said")"
grep -q '^2 threads: .* in the geometric mean of 2 cases, ' "$scratch/said" || fail "no geometric mean: $(cat "$scratch/said")"
[ -e "$scratch/kept/Pad_edge_0/test_data_set_0/output_0.pb" ] || fail "a case was not kept"
node - "$record" <<'CHECK' || bad=1
const lines = require('fs').readFileSync(process.argv[2], 'utf8').trim().split('\n');
const failures = [], check = (good, text) => { if (!good) failures.push(text); };
const rows = lines.slice(3).map((line) => line.split('\t')), timed = rows.filter((row) => row[2]);
check(lines[0].includes('ONNX Runtime 0.0.1') && lines[1].startsWith('# ') && lines[2].startsWith('operator\t'), `head: ${lines.slice(0, 3)}`);
check(timed.length === 4 && rows.length === 5, `expected 4 rows of times and 1 other, got ${timed.length} and ${rows.length - timed.length}`);
for (const [name, dtype, threads, shapes, theirs, ours, ratio] of timed)
  check(dtype === 'f32' && shapes && theirs > 0 && ours > 0 && Math.abs(ratio - ours / theirs) < 0.02 * ratio, `${name}, ${threads} threads: no times`);
const order = timed.map((row) => Number(row[6]));
check(order.every((ratio, i) => i === 0 || ratio <= order[i - 1]), `the order: ${order}`);
check(timed.every((row) => row[4] === '0.00500' && row[8] === '0.00800' && row[9] === 'short'), 'times of the profile');
check(rows.every((row) => /^7\/0$/.test(row[10])), 'no seeds');
check(rows.slice(4).every((row) => row[0] === 'Not' && /^not judged: ONNX Runtime: /.test(row[9])), `not judged: ${rows.slice(4)}`);
for (const text of failures) console.error(`hunt_test: ${text}`);
process.exit(failures.length > 0 ? 1 : 0);
CHECK
shapes() { grep '^Sigmoid' "$record" | cut -f 4 | sort -u; }
first=$(shapes)
runs 0 '1 cases timed' --operators Sigmoid --draws 0 --threads 1
grep -qxF "$(shapes)" <<<"$first" || fail "draw 0 is $(shapes), it was $first"
runs 0 '1 cases timed' --operators Sigmoid --seed 8 --threads 1
! grep -qxF "$(shapes)" <<<"$first" || fail "another seed draws the same shape, $(shapes)"

# No case is timed; outputs differ (the name of the temporary folder chooses the stand-in's faults).
runs 3 'no case was timed' --operators Not
mkdir "$scratch/differs"
TMPDIR=$scratch/differs runs 1 'Sigmoid 0: ' --operators Sigmoid --threads 1 --budget 1
grep -qF 'differs: the outputs differ from those of ONNX Runtime' "$scratch/said" || fail "no difference: $(cat "$scratch/said")"
[ -z "$(ls -A "$TMPDIR" "$scratch/differs" | grep -v :)" ] || fail "a temporary file was left"
exit $bad
