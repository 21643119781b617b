#!/usr/bin/env bash
# Operators of com.microsoft and ai.onnx.ml against ONNX Runtime: fetches it from npm, builds a small model per case of
# contrib_cases.mjs and learning_cases.mjs and checks every backend against ONNX Runtime's outputs. Prints a row per case.
# Usage: reports/peers/contrib.sh [OPTION VALUE]...
#   --cache DIR     install ONNX Runtime in this folder and keep it for the next time (default: ~/.cache/opkit/contrib)
#   --output DIR    replace this folder by the cases as backend tests, and results (default: out/contrib)
#   --bin DIR       run OpKit's programs of this folder (default: build/release/bin)
#   --backend LIST  check these backends, separated by commas (default: reference,cpu,vulkan)
#   --filter TEXT   take only cases with TEXT in their name
#   --times ROUNDS  take the cases of typical sizes in place of the others, or the cases of both that --filter chooses; time
#                   those that are right on the CPU there, on one thread, in turns with ONNX Runtime
# Needs node and npm (./setup --trained), and the network the first time. Exit codes: 0, 1 if a case fails, 2 for wrong
# arguments, 3 if ONNX Runtime runs no case.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
. "$here/fetch_packages.sh"
refuse() { echo "contrib.sh: $*" >&2; exit 2; }

cache=${XDG_CACHE_HOME:-$HOME/.cache}/opkit/contrib
output=$root/out/contrib bin=$root/build/release/bin backends=reference,cpu,vulkan filter= rounds=0
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) sed -n '2,14s/^# //p' "$0"; exit 0 ;;
    --cache | --output | --bin | --backend | --filter | --times)
      [ $# -gt 1 ] && [ -n "$2" ] || refuse "$1 expects a value"
      case $1 in
        --cache) cache=$2 ;;
        --output) output=$2 ;;
        --bin) bin=$2 ;;
        --backend) backends=$2 ;;
        --filter) filter=$2 ;;
        --times) rounds=$2 ;;
      esac
      shift 2 ;;
    *) refuse "unknown argument '$1'; see reports/peers/contrib.sh --help" ;;
  esac
done
[[ $backends =~ ^[a-z0-9_]+(,[a-z0-9_]+)*$ ]] || refuse "--backend expects names separated by commas, got '$backends'"
[[ $rounds =~ ^(0|[1-9][0-9]{0,3})$ ]] || refuse "--times expects a number up to 9999, got '$rounds'"
[ -x "$bin/op-harness" ] || refuse "no op-harness in '$bin': build first"
# The folder is emptied: take no other one.
[ ! -e "$output" ] || [ -e "$output/.contrib" ] || [ -z "$(ls -A "$output" 2>&1)" ] ||
  refuse "--output '$output' holds something else"
outputFile --output "$output/.contrib"
command -v node >/dev/null && command -v npm >/dev/null || refuse "needs node and npm: ./setup --trained installs them"
version=$(node -p 'JSON.parse(require("fs").readFileSync(process.argv[1])).packages["onnxruntime-node"]' \
  "$here/trained_networks.json")
manifest="{\"private\": true, \"dependencies\": {\"onnxruntime-node\": \"$version\"}}"

fetchPackages "$cache" "$manifest"
touch "$output/.contrib"
exec node "$here/contrib.mjs" "$(realpath "$cache")" "$(realpath "$bin")" "$(realpath "$output")" "$backends" "$rounds" "$filter"
