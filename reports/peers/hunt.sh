#!/usr/bin/env bash
# Single nodes of drawn shapes on the CPU, with OpKit and ONNX Runtime in turns: fetches ONNX Runtime from npm, checks that the
# outputs agree, and prints mean and worst ratio of least times per operator and the worst cases of all.
# Usage: reports/peers/hunt.sh [OPTION VALUE]...
#   --operators LIST  take only these operators, or entries of hunt_cases.mjs ("Conv 1x1"), separated by commas
#   --seed N          draw the cases from this number (default: the day since 1970)
#   --count N         draw N cases for each entry (default: 20)
#   --draws LIST      take only the draws of these numbers, separated by commas: the last column of the record has them
#   --threads LIST    use so many threads, separated by commas (default: 1,2)
#   --budget SECONDS  begin no further case after this time; 0 is no limit (default: 0)
#   --worst N         print the N worst cases (default: 20)
#   --rounds N        run N turns of each side, three times as many where OpKit is slower (default: 2)
#   --turn MS         let a turn of one side take this long (default: 30)
#   --simd NAME       let OpKit use no better instruction set than this: AVX2, SSE4, ...
#   --record FILE     write the table to FILE (default: out/hunt.tsv), the largest ratio first
#   --keep DIR        keep each case as a backend test in DIR
#   --cache DIR       install ONNX Runtime in this folder and keep it for the next time (default: ~/.cache/opkit/contrib)
#   --bin DIR         run OpKit's programs of this folder (default: build/release/bin)
# Needs node and npm (./setup --trained), and the network the first time. Exit codes: 0, 1 if a case differs or does not run, 2 for
# wrong arguments, 3 if no case was timed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
. "$here/fetch_packages.sh"
refuse() { echo "hunt.sh: $*" >&2; exit 2; }

cache=${XDG_CACHE_HOME:-$HOME/.cache}/opkit/contrib bin=$root/build/release/bin record=$root/out/hunt.tsv
operators= seed=$(($(date +%s) / 86400)) count=20 draws= threads=1,2 budget=0 worst=20 turn=30 rounds=2 simd= keep=
((seed >= 0)) || seed=0  # by a wrong clock
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) sed -n '2,21s/^# //p' "$0"; exit 0 ;;
    --operators | --seed | --count | --draws | --threads | --rounds | --budget | --worst | --turn | --simd | --record | --keep | --cache | --bin)
      [ $# -gt 1 ] && [ -n "$2" ] || refuse "$1 expects a value"
      declare "${1#--}=$2"
      shift 2 ;;
    *) refuse "unknown argument '$1'; see reports/peers/hunt.sh --help" ;;
  esac
done
number() { [[ $2 =~ ^(0|[1-9][0-9]{0,5})$ ]] && [ "$2" -ge "$3" ] || refuse "$1 expects a number from $3 to 999999, got '$2'"; }
number --seed "$seed" 0
number --count "$count" 1
number --budget "$budget" 0
number --worst "$worst" 1
number --rounds "$rounds" 1
number --turn "$turn" 1
[[ ,$threads =~ ^(,[1-9][0-9]{0,2})+$ ]] || refuse "--threads expects numbers from 1 to 999, separated by commas, got '$threads'"
[[ -z $draws || ,$draws =~ ^(,(0|[1-9][0-9]{0,5}))+$ ]] || refuse "--draws expects numbers separated by commas, got '$draws'"
[ -x "$bin/op-run" ] || refuse "no op-run in '$bin': build first"
outputFile --record "$record"
[ -z "$keep" ] || outputFile --keep "$keep/.written"
command -v node >/dev/null && command -v npm >/dev/null || refuse "needs node and npm: ./setup --trained installs them"
version=$(node -p 'JSON.parse(require("fs").readFileSync(process.argv[1])).packages["onnxruntime-node"]' \
  "$here/trained_networks.json")
fetchPackages "$cache" "{\"private\": true, \"dependencies\": {\"onnxruntime-node\": \"$version\"}}"
output=$(mktemp -d)
trap 'rm -rf "$output"' EXIT
code=0
node "$here/hunt.mjs" "$(node -e '
  const [packages, bin, output, record, keep, operators, draws, threads, simd, ...numbers] = process.argv.slice(1);
  const list = (text) => text.split(",").filter(Boolean), [seed, count, budget, worst, turn, rounds] = numbers.map(Number);
  console.log(JSON.stringify({packages, bin, output, record, keep, simd, operators: list(operators), draws: list(draws).map(Number),
    threads: list(threads).map(Number), seed, count, budget, worst, turn, rounds}));
  ' "$(realpath "$cache")" "$(realpath "$bin")" "$output" "$(realpath -m "$record")" "${keep:+$(realpath "$keep")}" "$operators" \
    "$draws" "$threads" "$simd" "$seed" "$count" "$budget" "$worst" "$turn" "$rounds")" || code=$?
exit $code
