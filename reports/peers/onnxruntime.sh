#!/usr/bin/env bash
# Networks on the CPU, with OpKit and ONNX Runtime in turns: fetches the npm packages of the tables, checks that the outputs
# agree, and prints the least times in ms, their ratio, and the spread between processes. A busy machine disturbs least
# times least; repeat a ratio near 1.
# Usage: reports/peers/onnxruntime.sh [OPTION VALUE]...
#   --table LIST    take the networks of these files, separated by commas (default: zoo_networks.json, trained_networks.json,
#                   more_networks.json and exported_networks.json beside this script)
#   --network LIST  time only the networks of these names, separated by commas
#   --threads LIST  use so many threads, separated by commas (default: 1,2)
#   --rounds N      run N processes of each side (default: 5)
#   --nodes N       list the N dearest nodes of each side (default: 3)
#   --simd NAME     let OpKit use no better instruction set than this: AVX2, SSE4, ...
#   --record FILE   write the table to FILE (default: out/onnxruntime.tsv); op-report build --peers FILE shows it
#   --cache DIR     install the packages in this folder and keep them for the next time (default: ~/.cache/opkit/peers)
#   --bin DIR       run OpKit's programs of this folder (default: build/release/bin)
# Needs node and npm (./setup --trained), and the network the first time.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
. "$here/fetch_packages.sh"
refuse() { echo "onnxruntime.sh: $*" >&2; exit 2; }

cache=${XDG_CACHE_HOME:-$HOME/.cache}/opkit/peers bin=$root/build/release/bin record=$root/out/onnxruntime.tsv
tables=$here/zoo_networks.json,$here/trained_networks.json,$here/more_networks.json,$here/exported_networks.json
networks= threads=1,2 rounds=5 nodes=3 simd=
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) sed -n '2,18s/^# //p' "$0"; exit 0 ;;
    --table | --network | --threads | --rounds | --nodes | --simd | --record | --cache | --bin)
      [ $# -gt 1 ] && [ -n "$2" ] || refuse "$1 expects a value"
      case $1 in
        --table) tables=$2 ;;
        --network) networks=$2 ;;
        --threads) threads=$2 ;;
        --rounds) rounds=$2 ;;
        --nodes) nodes=$2 ;;
        --simd) simd=$2 ;;
        --record) record=$2 ;;
        --cache) cache=$2 ;;
        --bin) bin=$2 ;;
      esac
      shift 2 ;;
    *) refuse "unknown argument '$1'; see reports/peers/onnxruntime.sh --help" ;;
  esac
done
[[ ,$threads =~ ^(,[1-9][0-9]{0,2})+$ ]] || refuse "--threads expects numbers from 1 to 999, separated by commas, got '$threads'"
[[ $rounds =~ ^[1-9][0-9]{0,3}$ ]] || refuse "--rounds expects a number from 1 to 9999, got '$rounds'"
[[ $nodes =~ ^[0-9]{1,3}$ ]] || refuse "--nodes expects a number from 0 to 999, got '$nodes'"
[ -x "$bin/op-convert" ] && [ -x "$bin/op-run" ] || refuse "no op-convert and op-run in '$bin': build first"
outputFile --record "$record"
command -v node >/dev/null && command -v npm >/dev/null || refuse "needs node and npm: ./setup --trained installs them"
manifest=$(node -e '
  const tables = process.argv[1].split(",").map((file) => JSON.parse(require("fs").readFileSync(file, "utf8")));
  if (!tables.every(({packages, networks}) => packages && Array.isArray(networks))) throw 0;
  const merged = (key) => Object.assign({}, ...tables.map((table) => table[key]));
  console.log(JSON.stringify({private: true, dependencies: merged("packages"), overrides: merged("overrides")}));
  ' "$tables" 2>/dev/null) || refuse "--table '$tables': one is no JSON file with packages and networks"

fetchPackages "$cache" "$manifest"
output=$(mktemp -d)
trap 'rm -rf "$output"' EXIT
code=0
node "$here/onnxruntime.mjs" "$(node -e '
  const [packages, tables, bin, output, record, rounds, threads, simd, nodes, networks] = process.argv.slice(1);
  const list = (text) => text.split(",").filter(Boolean);
  console.log(JSON.stringify({packages, bin, output, record, simd, tables: list(tables), only: list(networks),
    rounds: Number(rounds), nodes: Number(nodes), threads: list(threads).map(Number)}));
  ' "$(realpath "$cache")" "$tables" "$(realpath "$bin")" "$output" "$(realpath -m "$record")" "$rounds" "$threads" "$simd" \
    "$nodes" "$networks")" || code=$?
exit $code
