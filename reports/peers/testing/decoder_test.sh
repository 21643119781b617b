#!/usr/bin/env bash
# decoder.sh without the network: a stand-in for npm copies a stand-in for ONNX Runtime, which computes on OpKit's oracles.
# Usage: reports/peers/testing/decoder_test.sh SOURCE BIN SCRATCH BACKENDS. Exit code 77 without node.
set -uo pipefail
source=$(realpath "$1") bin=$(realpath "$2") scratch=$3 backends=$4
command -v node >/dev/null || { echo "decoder_test: node is not installed" >&2; exit 77; }
rm -rf "$scratch"
mkdir -p "$scratch/tools" "$scratch/differs"
scratch=$(realpath "$scratch")
export OPKIT_BIN=$bin OPKIT_PEERS=$source/reports/peers OPKIT_CACHE_DIR=off TMPDIR=$scratch
bad=0
fail() { echo "decoder_test: $*" >&2; bad=1; }

cat >"$scratch/tools/npm" <<STUB
#!/bin/sh
[ ! -e "$scratch/no_network" ] || { echo "npm error code ENOTFOUND" >&2; exit 1; }
mkdir -p node_modules && cp -r "$source/reports/peers/testing/onnxruntime-node" node_modules/
STUB
chmod +x "$scratch/tools/npm"
export PATH=$scratch/tools:$PATH
standard=("$source/reports/peers/decoder.sh" --bin "$bin" --backend "$backends" --network decoder:vocabulary=100)

# expects CODE TEXT ARGUMENT...: the exit code, and the number of lines with TEXT that each backend and prompt prints.
expects() {
  local code=0 text=$2 lines
  "${standard[@]}" "${@:3}" >"$scratch/out" 2>"$scratch/err" || code=$?
  lines=$(grep -c "OpKit, .* least margin .*: $text\$" "$scratch/out")
  [ "$code" = "$1" ] && [ "$lines" = $(($(tr ',' '\n' <<<"$backends" | wc -l) * 2)) ] ||
    { fail "expected exit code $1 and '$text' of every backend and prompt, got $code:"; cat "$scratch/out" "$scratch/err" >&2; }
}
# refuses TEXT ARGUMENT...: exit code 2 and one line that holds TEXT.
refuses() {
  local code=0
  "${standard[@]}" "${@:2}" >"$scratch/out" 2>"$scratch/err" || code=$?
  [ "$code" = 2 ] && [ "$(wc -l <"$scratch/err")" = 1 ] && grep -qF -- "$1" "$scratch/err" ||
    fail "expected exit code 2 and '$1' for ${*:2}, got $code: $(cat "$scratch/err")"
}

expects 0 'the same tokens' --count 6
TMPDIR=$scratch/differs expects 1 'OTHER TOKENS' --count 24
refuses 'unknown argument' --nope
refuses '--count expects a value' --count
refuses '--count expects a number' --count 0
refuses '--backend expects names' --backend ,
refuses 'build first' --bin "$scratch"
refuses "no parameter is called 'layer'" --network decoder:layer=2
refuses "expected a backend (" --backend nope --count 1
touch "$scratch/no_network"
refuses 'npm cannot fetch onnxruntime-node: code ENOTFOUND'
[ -z "$(find "$scratch" -maxdepth 2 -name 'tmp.*')" ] || fail "a temporary folder is left"
[ $bad = 0 ] && echo "decoder_test: ok"
exit $bad
