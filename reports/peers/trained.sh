#!/usr/bin/env bash
# Trained networks against ONNX Runtime: fetches the npm packages of trained_networks.json, checks every network on every
# backend against ONNX Runtime's outputs, tensor by tensor too, and times both in turns on one thread.
# Usage: reports/peers/trained.sh [OPTION VALUE]...
#   --cache DIR     install the packages in this folder and keep them for the next time (default: ~/.cache/opkit/trained)
#   --table FILE    read packages, networks and shapes from FILE (default: trained_networks.json beside this script)
#   --output DIR    replace this folder by backend tests of the networks, and logs (default: out/trained)
#   --json FILE     append results as JSON lines (default: DIR.jsonl for --output DIR)
#   --bin DIR       run OpKit's programs of this folder (default: build/release/bin)
#   --backend LIST  check these backends, separated by commas (default: cpu,vulkan)
#   --rounds N      time N rounds of 15 runs each; 0 times nothing (default: 3)
#   --level LIST    take the networks as they are (none), or as ONNX Runtime's optimiser writes them (basic, extended);
#                   levels are separated by commas (default: none)
# Needs node and npm (./setup --trained), and the network the first time.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
. "$here/fetch_packages.sh"
refuse() { echo "trained.sh: $*" >&2; exit 2; }

cache=${XDG_CACHE_HOME:-$HOME/.cache}/opkit/trained
table=$here/trained_networks.json output=$root/out/trained json= bin=$root/build/release/bin backends=cpu,vulkan rounds=3
levels=none
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) sed -n '2,14s/^# //p' "$0"; exit 0 ;;
    --cache | --table | --output | --json | --bin | --backend | --rounds | --level)
      [ $# -gt 1 ] && [ -n "$2" ] || refuse "$1 expects a value"
      case $1 in
        --cache) cache=$2 ;;
        --table) table=$2 ;;
        --output) output=$2 ;;
        --json) json=$2 ;;
        --bin) bin=$2 ;;
        --backend) backends=$2 ;;
        --rounds) rounds=$2 ;;
        --level) levels=$2 ;;
      esac
      shift 2 ;;
    *) refuse "unknown argument '$1'; see reports/peers/trained.sh --help" ;;
  esac
done
json=${json:-${output%/}.jsonl}
[[ $rounds =~ ^(0|[1-9][0-9]{0,3})$ ]] || refuse "--rounds expects a number from 0 to 9999, got '$rounds'"
[[ ,$levels =~ ^(,(none|basic|extended))+$ ]] || refuse "--level expects none, basic or extended, separated by commas, got '$levels'"
[[ $backends =~ ^[a-z0-9_]+(,[a-z0-9_]+)*$ ]] || refuse "--backend expects names separated by commas, got '$backends'"
[ -x "$bin/op-harness" ] && [ -x "$bin/op-run" ] || refuse "no op-harness and op-run in '$bin': build first"
# The folder is emptied: take no other one.
[ ! -e "$output" ] || [ -e "$output/.trained" ] || [ -z "$(ls -A "$output" 2>&1)" ] ||
  refuse "--output '$output' holds something else"
outputFile --output "$output/.trained"
outputFile --json "$json"
command -v node >/dev/null && command -v npm >/dev/null || refuse "needs node and npm: ./setup --trained installs them"
manifest=$(node -e '
  const {packages, overrides, networks} = JSON.parse(require("fs").readFileSync(process.argv[1], "utf8"));
  if (!packages || !Array.isArray(networks)) throw 0;
  console.log(JSON.stringify({private: true, dependencies: packages, overrides}));' "$table" 2>/dev/null) ||
  refuse "--table '$table' is no JSON file with packages and networks"

fetchPackages "$cache" "$manifest"
touch "$output/.trained"
IFS=, read -ra list <<<"$backends"
exec node "$here/trained.mjs" "$(realpath "$cache")" "$(realpath "$table")" "$(realpath "$bin")" "$(realpath "$output")" \
  "$(realpath -m "$json")" "$rounds" "$levels" "${list[@]}"
