#!/usr/bin/env bash
# Runs networks on the CPU, with OpKit and ONNX Runtime in turns. Outputs must agree; prints times in ms as MEDIAN/LEAST,
# and the ratios of both. A busy machine disturbs the least run least.
#   reports/peers/onnxruntime.sh [ROUNDS] [MODEL.onnx SHAPE]...    e.g. 5 resnet50.onnx 1x3x224x224
# Without models: the networks of the zoo. random_weights.py gives weights to a network that has none.
# Needs node and npm (Debian: nodejs, npm); fetches the npm package onnxruntime-node into a temporary folder.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
bin=$here/../../build/release/bin
rounds=${1:-5}
[ $# -eq 0 ] || shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
networks=()
while [ $# -ge 2 ]; do networks+=("$(realpath "$1") $2"); shift 2; done
if [ $# -gt 0 ] || [[ ! $rounds =~ ^[1-9][0-9]*$ ]]; then
  echo "onnxruntime.sh: give ROUNDS, then pairs of MODEL.onnx and SHAPE" >&2
  exit 2
fi
if [ ${#networks[@]} -eq 0 ]; then
  for network in squeezenet mobilenet_v2 resnet50 transformer; do
    shape=1x3x224x224
    [ $network != transformer ] || shape=1x64x128
    "$bin/op-convert" "zoo:$network" "$folder/$network.onnx" >/dev/null
    networks+=("$folder/$network.onnx $shape")
  done
fi
cp "$here/onnxruntime.mjs" "$folder"
(cd "$folder" && npm init -y >/dev/null && npm install --ignore-scripts onnxruntime-node >/dev/null 2>&1)

median() { sort -n | awk '{ v[NR] = $1 } END { printf "%.2f", v[int((NR + 1) / 2)] }'; }
least() { sort -n -k 2 | awk 'NR == 1 { printf "%.2f", $2 }'; }

printf '%-16s %7s %17s %17s %12s\n' network threads 'ONNX Runtime' OpKit ratio
for network in "${networks[@]}"; do
  read -r file shape <<<"$network"
  for threads in 1 2; do
    : >"$folder/theirs" && : >"$folder/ours"
    for ((i = 0; i < rounds; ++i)); do
      (cd "$folder" && node onnxruntime.mjs "$file" "$shape" $threads 25 "$folder" 2>log) >"$folder/round" ||
        { cat "$folder/log" >&2; exit 1; }
      read -r _ _ input output <"$folder/round"
      cat "$folder/round" >>"$folder/theirs"
      "$bin/op-run" "$file" --threads $threads --repeat 25 \
        --input "$input=$folder/input.npy" --expect "$output=$folder/output.npy" >"$folder/log" ||
        { cat "$folder/log" >&2; exit 1; }
      sed -n 's/.*run \([0-9.]*\) \(us\|ms\) (median of [0-9]*; \([0-9.]*\) \(us\|ms\).*/\1 \2 \3 \4/p' "$folder/log" |
        awk '{ print $2 == "us" ? $1 / 1000 : $1, $4 == "us" ? $3 / 1000 : $3 }' >>"$folder/ours"
    done
    for side in theirs ours; do
      eval "$side=$(median <"$folder/$side") $side"_least="$(least <"$folder/$side")"
    done
    printf '%-16s %7d %17s %17s %12s\n' "$(basename "$file" .onnx)" $threads "$theirs/$theirs_least" "$ours/$ours_least" \
      "$(awk "BEGIN { printf \"%.2f/%.2f\", $ours / $theirs, $ours_least / $theirs_least }")"
  done
done
