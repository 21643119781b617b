#!/usr/bin/env bash
# Generates tokens with the decoder of the zoo on ONNX Runtime and on OpKit, from the same .onnx file, and compares them.
# Usage: reports/peers/decoder.sh [OPTION VALUE]...
#   --bin DIR       run OpKit's programs of this folder (default: build/release/bin)
#   --backend LIST  run these backends, separated by commas (default: cpu,vulkan)
#   --count N       generate N tokens behind each prompt (default: 64)
#   --network NAME  take this network of the zoo, with its parameters (repeatable; default: three decoders)
# Prints per network and prompt the number of different tokens, the least margin between the largest and the second logit,
# and ms a token, outputs and inputs copied, with new shapes at each token. Exit codes: 0, 1 if a token differs, 2 if
# something cannot run.
# Needs node and npm (./setup --trained); fetches the npm package onnxruntime-node into a temporary folder.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
refuse() { echo "decoder.sh: $*" >&2; exit 2; }

bin=$root/build/release/bin backends=cpu,vulkan count=64 networks=()
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) sed -n '2,11s/^# //p' "$0"; exit 0 ;;
    --bin | --backend | --count | --network)
      [ $# -gt 1 ] && [ -n "$2" ] || refuse "$1 expects a value"
      case $1 in
        --bin) bin=$2 ;;
        --backend) backends=$2 ;;
        --count) count=$2 ;;
        --network) networks+=("${2#zoo:}") ;;
      esac
      shift 2 ;;
    *) refuse "unknown argument '$1'; see reports/peers/decoder.sh --help" ;;
  esac
done
[[ $count =~ ^[1-9][0-9]{0,3}$ ]] || refuse "--count expects a number from 1 to 9999, got '$count'"
[[ $backends =~ ^[a-z0-9_]+(,[a-z0-9_]+)*$ ]] || refuse "--backend expects names separated by commas, got '$backends'"
generate=$bin/../docs/examples/generate
[ -x "$bin/op-convert" ] && [ -x "$generate" ] || refuse "no op-convert and ../docs/examples/generate in '$bin': build first"
command -v node >/dev/null && command -v npm >/dev/null || refuse "needs node and npm: ./setup --trained installs them"
[ ${#networks[@]} -gt 0 ] ||
  networks=(decoder decoder:layers=3,model=120,heads=6,kv_heads=1,hidden=320,vocabulary=500
            decoder:layers=4,model=256,heads=8,kv_heads=2,hidden=688,vocabulary=1000)
prompts=('1 2 3' '70 7 7 41 12 5 9 33 60 2 18')  # below every vocabulary

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$here/decoder.mjs" "$folder"
(cd "$folder" && npm init -y && npm install --ignore-scripts --no-audit --no-fund onnxruntime-node) >"$folder/npm.log" 2>&1 ||
  refuse "npm cannot fetch onnxruntime-node: $(sed -n 's/^npm \(error\|ERR!\) //p' "$folder/npm.log" | head -n 3 | tr '\n' ' ')"

# summary FILE: its second line as 'MARGIN TIME'
summary() { sed -n '2s/least margin \(.*\); \(.*\) ms a token/\2 ms a token, least margin \1/p' "$1"; }

differ=0
IFS=, read -ra list <<<"$backends"
for network in "${networks[@]}"; do
  "$bin/op-convert" "zoo:$network" "$folder/decoder.onnx" >"$folder/log" || exit 2
  for prompt in "${prompts[@]}"; do
    read -ra tokens <<<"$prompt"
    (cd "$folder" && node decoder.mjs "$folder/decoder.onnx" "$count" "${tokens[@]}" >theirs 2>log) ||
      refuse "ONNX Runtime: $(head -n 1 "$folder/log")"
    echo "zoo:$network, prompt $prompt: $count tokens, $(head -n 1 "$folder/theirs" | tr ' ' '\n' | sort -u | wc -l) different"
    printf '  %-14s %s\n' 'ONNX Runtime' "$(summary "$folder/theirs")"
    for backend in "${list[@]}"; do
      "$generate" "$folder/decoder.onnx" "$backend" "$count" "${tokens[@]}" >"$folder/ours" || exit 2
      verdict='the same tokens'
      cmp -s <(head -n 1 "$folder/ours") <(head -n 1 "$folder/theirs") || verdict='OTHER TOKENS' differ=1
      printf '  %-14s %s: %s\n' "OpKit, $backend" "$(summary "$folder/ours")" "$verdict"
    done
  done
done
exit $differ
