#!/usr/bin/env bash
# contrib.sh without the network: a stand-in for npm copies a stand-in for ONNX Runtime. Usage:
# reports/peers/testing/contrib_test.sh SOURCE BIN SCRATCH BACKENDS. Exit code 77 without node.
set -uo pipefail
source=$(realpath "$1") bin=$(realpath "$2") scratch=$3 backends=$4
command -v node >/dev/null || { echo "contrib_test: node is not installed" >&2; exit 77; }
rm -rf "$scratch"
mkdir -p "$scratch/tools" "$scratch/registry" "$scratch/temporary"
scratch=$(realpath "$scratch")
export OPKIT_BIN=$bin OPKIT_PEERS=$source/reports/peers OPKIT_CACHE_DIR=off TMPDIR=$scratch/temporary
bad=0
fail() { echo "contrib_test: $*" >&2; bad=1; }

cp -r "$source/reports/peers/testing/onnxruntime-node" "$scratch/registry/"
cat >"$scratch/tools/npm" <<STUB
#!/bin/sh
[ ! -e "$scratch/no_network" ] || { echo "npm error code ENOTFOUND" >&2; exit 1; }
mkdir node_modules && cp -r "$scratch/registry/." node_modules/
STUB
chmod +x "$scratch/tools/npm"
export PATH=$scratch/tools:$PATH

# runs CODE TEXT ARGUMENT...: that exit code, and TEXT in the output. The stand-in does two cases with inputs of f32.
runs() {
  local expected=$1 text=$2 code=0
  shift 2
  "$source/reports/peers/contrib.sh" --cache "$scratch/cache" --bin "$bin" --backend "$backends" --filter FastGelu "$@" \
    >"$scratch/said" 2>&1 || code=$?
  [ "$code" = "$expected" ] || fail "$*: expected exit code $expected, got $code: $(tail -n 1 "$scratch/said")"
  grep -qF -- "$text" "$scratch/said" || fail "$*: expected '$text', got: $(tail -n 1 "$scratch/said")"
}
touch "$scratch/no_network"
runs 2 'npm cannot fetch the packages: code ENOTFOUND' --output "$scratch/out"
rm "$scratch/no_network"
[ ! -e "$scratch/cache" ] || fail "a cache was left"
runs 2 "unknown argument '--nope'" --nope
runs 2 '--filter expects a value' --filter
runs 2 "no op-harness in '/'" --bin /
runs 2 'holds something else' --output "$scratch/registry"
runs 2 "no case has 'nothing of this kind' in its name" --filter 'nothing of this kind' --output "$scratch/out"
runs 0 '2 cases pass, 0 fail, 0 not judged' --output "$scratch/out"
grep -qx "FastGelu: ${backends//,/ pass, } pass" "$scratch/said" || fail "a case has no row"
runs 2 "--times expects a number up to 9999, got 'often'" --times often
runs 0 '2 cases pass, 0 fail, 0 not judged' --times 2 --output "$scratch/out"
grep -qE "^FastGelu: .* pass; [0-9.e-]+ ms, ONNX Runtime [0-9.]+ ms, ratio [0-9.]+$" "$scratch/said" || fail "a case has no times"
# The name of the folder chooses the stand-in's faults.
runs 1 '0 cases pass, 2 fail, 0 not judged' --output "$scratch/differs"
runs 3 'ONNX Runtime runs no case: this network is refused' --output "$scratch/refused"
[ -z "$(ls -A "$TMPDIR")" ] || fail "a temporary file was left"
exit $bad
