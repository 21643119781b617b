#!/usr/bin/env bash
# Runs the networks of the zoo on the CPU, with OpKit and ONNX Runtime in turns. Outputs must agree; medians are
# printed.
#   reports/peers/onnxruntime.sh [ROUNDS]
# Needs node and npm (Debian: nodejs, npm); fetches the npm package onnxruntime-node into a temporary folder.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
bin=$here/../../build/release/bin
rounds=${1:-5}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$here/onnxruntime.mjs" "$folder"
(cd "$folder" && npm init -y >/dev/null && npm install --ignore-scripts onnxruntime-node >/dev/null 2>&1)

median() { sort -n | awk '{ v[NR] = $1 } END { printf "%.2f", v[int((NR + 1) / 2)] }'; }

printf '%-14s %7s %14s %10s %6s\n' network threads 'ONNX Runtime' OpKit ratio
for network in squeezenet mobilenet_v2 resnet50 transformer; do
  shape=1x3x224x224
  [ $network != transformer ] || shape=1x64x128
  "$bin/op-convert" "zoo:$network" "$folder/$network.onnx" >/dev/null
  for threads in 1 2; do
    : >"$folder/theirs" && : >"$folder/ours"
    for ((i = 0; i < rounds; ++i)); do
      (cd "$folder" && node onnxruntime.mjs "$network.onnx" $shape $threads 25 "$folder") >>"$folder/theirs"
      "$bin/op-run" "zoo:$network" --threads $threads --repeat 25 \
        --input "input=$folder/input.npy" --expect "output=$folder/output.npy" >"$folder/log" ||
        { cat "$folder/log" >&2; exit 1; }
      sed -n 's/.*run \([0-9.]*\) \(us\|ms\) (median.*/\1 \2/p' "$folder/log" |
        awk '{ print $2 == "us" ? $1 / 1000 : $1 }' >>"$folder/ours"
    done
    theirs=$(median <"$folder/theirs") ours=$(median <"$folder/ours")
    printf '%-14s %7d %11s ms %7s ms %6s\n' $network $threads "$theirs" "$ours" \
      "$(awk "BEGIN { printf \"%.2f\", $ours / $theirs }")"
  done
done
