#!/usr/bin/env bash
# Starts every command of every program under hostile conditions: interrupts at random moments, a full disk, a closed
# stdout, a closed pipe, and invalid values for every option. No crash, no hang, no remaining child or temporary file,
# no partial document; every refusal is one line. A file given to be read and to be written stays as it was.
#
# Usage: harness/testing/hostile_test.sh [--full] [--seed N] [--only TEXT] SOURCE BIN SCRATCH
#   --full       every command with ten moments and every hostile value, for nights; else each command once, undisturbed,
#                and a 28th of them, drawn by the seed, with two moments and the telling values
#   --seed N     of the moments (default: HEAD's commit, so everybody who tests a commit tests the same; without git drawn)
#   --only TEXT  commands whose name contains TEXT
# Expected exit codes: 130 and 143 if interrupted, 141 for a closed pipe, 2 for a full disk and a closed stdout. The
# commands come from the programs' own --help: a command without a row here fails the test.
set -uo pipefail

# A private mount namespace, if the system allows it.
if [ -z "${OPKIT_HOSTILE_MOUNTS-}" ]; then
  export OPKIT_HOSTILE_MOUNTS=1
  for namespace in -m -rm; do unshare $namespace true 2>/dev/null && exec unshare $namespace "$0" "$@"; done
fi

moments=2 full=false seed= only=
while [ $# -gt 3 ]; do
  case $1 in
    --full) full=true moments=10; shift ;;
    --seed) seed=$2; shift 2 ;;
    --only) only=$2; shift 2 ;;
    *) echo "hostile_test: unknown argument '$1'" >&2; exit 2 ;;
  esac
done
source=$(realpath "$1") bin=$(realpath "$2") scratch=$3
seed=${seed:-$((16#$(git -C "$source" rev-parse --short=4 HEAD 2>/dev/null | head -c4 | grep . ||
  head -c2 /dev/urandom | od -An -tx1 | tr -d ' \n')))}
RANDOM=$seed
echo "hostile_test: --seed $seed"

rm -rf "$scratch"
mkdir -p "$scratch/home" "$scratch/out" "$scratch/disk" "$scratch/folder"
scratch=$(realpath "$scratch")
export HOME=$scratch/home OPKIT_CACHE_DIR=off LC_ALL=C
unset OPKIT_TEMPLATES GITHUB_ACTIONS
failures=0 runs=0 skipped=0 counts=0
fail() { echo "FAIL $*" >&2; failures=$((failures + 1)); }

# --- The rows: arguments of each command. @ is the folder that it writes to, % marks an operand.
# -----------------------
declare -A row
relu='Relu/f32[3,4]/normal/seed=7'
row[op-run]='%zoo:transformer --repeat 20 --output @/outputs --json @/run.json --trace @/trace.json'
row[op-convert]='%zoo:transformer %@/model.onnx --json @/convert.json'
row[op-harness list]='--ids'
row[op-harness devices]='--json @/devices.json'
row[op-harness describe]='%Relu --json'
row[op-harness export]='%@/exported --op Relu,Add'
row[op-harness check]='--written --op Relu,Add,Softmax --backend cpu --jobs 2 --json @/results.jsonl --junit @/junit.xml --save @/saved --emit-expectations @/expected'
row[op-harness costs]="%$scratch/results.jsonl"
row[op-harness margins]="%$scratch/results.jsonl --update $scratch/margins.tsv"
row[op-harness traced]='--op Relu'
row[op-harness replay]="%$scratch/failure.opcase"
row[op-harness mutate]="--op Relu --backend cpu --jobs 2 --source $source --json @/results.jsonl"
row[op-harness shaders]='--op Relu --json @/shaders.json'
row[op-harness watch]="--op Relu --once --source $source"
row[op-harness bench]="--op Relu --backend cpu --samples 3 --json @/results.jsonl"
row[op-harness model]='%zoo:transformer --backend cpu --reference reference --json @/results.jsonl'
row[op-harness cases]='--from zoo:transformer --input input=1x4x128 --output @/network.cases.json'
row[op-harness conformance]="%$scratch/networks --backend cpu --workers 2 --json @/results.jsonl"
row[op-harness backend]='%cpu --json @/verdicts.json'
row[op-report build]="%$scratch/results.jsonl --output @/index.html"
row[op-report add]="%$scratch/results.jsonl --history @/history.sqlite"
row[op-report history]="--history $scratch/history.sqlite"
row[op-report detect]="--history $scratch/history.sqlite"
row[op-report show]="%Relu $scratch/results.jsonl --history $scratch/history.sqlite"
row[op-report merge]="%$scratch/results.jsonl --output @/results.jsonl"
row[op-report ops]="%$scratch/results.jsonl --output @/ops.md"
row[op-report device]="%$scratch/device.jsonl --output @/device.md"
row[op-report onnx]="--output @/onnx.md"
row[op-report demo]='%@/demo --nights 12'
row[op-report compare]="%$scratch/results.jsonl $scratch/results.jsonl"
row[op-scaffold new]="HardNudge --kind elementwise --dry-run"
row[op-scaffold new-kernel]='CumSum --backend cpu --name nudge --dry-run'
row[op-scaffold where]='%Softmax'
row[op-scaffold remove]='Softmax --dry-run --force'
row[op-scaffold rename]='Softmax HardNudge --dry-run --force'
row[op-scaffold add-backend]='CumSum vulkan --dry-run'
row[op-scaffold backend]='hard_nudge --dry-run'
row[op-scaffold plugin]='hard_nudge --dir @/plugin'
row[op-scaffold doctor]='%Softmax'
row[op-scaffold kinds]=''
row[op-scaffold list]=''
row[op-scaffold eject]='%@/templates'

# Arguments for the option tests, if the row above takes long: most of these stop early, for another reason.
declare -A quick
quick[op-run]='%zoo:transformer'
quick[op-harness check]="--case $relu --backend cpu"
quick[op-harness export]="%@/exported --case $relu"
quick[op-harness bench]="--case $relu --backend cpu --baseline /no/such/program"
quick[op-harness mutate]="--op Relu --backend nope --source $source"
quick[op-harness model]='%/no/such/model.onnx --backend cpu'
quick[op-harness conformance]="%$scratch/folder --backend cpu"
quick[op-harness backend]='%nope'
quick[op-harness shaders]='--op Nope'
quick[op-report demo]='%@/demo --nights 2'
quick[op-harness watch]="--op Nope --once --source $source"

# --- Running one command -----------------------------------------------------------------------------------------------
# words 'program command' TEXT FOLDER: the command line in the array `line`.
words() {
  local text=${2//@/$3}
  read -ra line <<<"$1 ${text//%/}"
  line[0]=$bin/${line[0]}
  [ "$1" = nightly ] && line=(env PATH="$scratch/tree/stubs:$PATH" "$scratch/tree/nightly" "${line[@]:1}")
  [ "${1%% *}" = op-scaffold ] && line=("${line[0]}" --root "$source" "${line[@]:1}")
  return 0
}

left() { grep -lsz "^OPKIT_HOSTILE=$run_id\$" /proc/[0-9]*/environ 2>/dev/null; }

# started NAME FOLDER COMMAND...: runs it, stderr in $scratch/err, exit code in `code`; then nothing may be left of it.
started() {
  local name=$1 folder=$2
  shift 2
  runs=$((runs + 1)) run_id=$$-$runs code=0
  OPKIT_HOSTILE=$run_id TMPDIR=$folder "$@" </dev/null 2>"$scratch/err" || code=$?
  for _ in {1..20}; do [ -z "$(left)" ] && break; sleep 0.1; done
  [ -z "$(left)" ] || fail "$name: a process is left: $(left | head -3)"
  local stray
  stray=$(find "$folder" \( -name '*.tmp' -o -name '*.op-scaffold-new' -o -name 'op-harness-*' -o -name '*.partial' -o -name '.*.part' \) 2>/dev/null)
  [ -z "$stray" ] || fail "$name: a temporary file is left: $stray"
  case $code in
    0 | 1 | 2 | 3 | 130 | 141 | 143) ;;
    *) fail "$name: exit code $code: $(tail -n 2 "$scratch/err")" ;;
  esac
}

# oneLine NAME: a refusal is one line of the program.
oneLine() {
  [ "$code" != 2 ] || [ "$(wc -l <"$scratch/err")" = 1 ] || fail "$1: expected one line with exit code 2, got: $(head -n 5 "$scratch/err")"
}

# documents NAME FOLDER: output files are complete: JSON documents end, lines of results are whole.
documents() {
  local file
  for file in "$2"/*.json "$2"/*.html "$2"/*.xml; do
    [ -s "$file" ] || continue
    case $(tail -c 16 "$file") in *[\]}] | *'</html>' | *'</testsuites>') ;; *) fail "$1: half a document: $file ends in '$(tail -c 20 "$file")'" ;; esac
  done
  [ -s "$2/results.jsonl" ] || return 0
  [ -z "$(tail -c 1 "$2/results.jsonl")" ] || fail "$1: the last line of results is cut"
  if grep -nv '^{.*}$' "$2/results.jsonl"; then fail "$1: a line of results is none"; fi
  announced "$1" "$2"
}

# --- The tests of each command
# ----------------------------------------------------------------------------------------- A normal run: its time,
# whether it prints, its exit code.
calm() {
  local name=$1 folder=$scratch/out
  rm -rf "$folder" && mkdir -p "$folder"
  words "$name" "${row[$name]}" "$folder"
  local begin=${EPOCHREALTIME/./}
  started "$name" "$folder" timeout -k 5 300 "${line[@]}" >"$scratch/stdout"
  took=$(((${EPOCHREALTIME/./} - begin) / 1000 + 1)) calm_code=$code
  documents "$name" "$folder"
  case $code in 0 | 1) ;; *) fail "$name: the row itself ends with $code: $(tail -n 2 "$scratch/err")" ;; esac
  prints=false
  [ -s "$scratch/stdout" ] && prints=true
}

interrupted() {
  local name=$1 signal=$2 expected=$3 folder=$scratch/out delay
  rm -rf "$folder" && mkdir -p "$folder"
  words "$name" "${row[$name]}" "$folder"
  delay=$((RANDOM * took / 32768 + 1))
  started "$name after $delay ms" "$folder" \
    timeout --preserve-status -k 20 -s "$signal" "$((delay / 1000)).$(printf %03d $((delay % 1000)))" "${line[@]}" >"$scratch/stdout"
  [ "$code" = "$expected" ] || [ "$code" = "$calm_code" ] ||
    fail "$name: $signal after $delay of $took ms: expected $expected, got $code: $(tail -n 2 "$scratch/err")"
  documents "$name" "$folder"
}

# The summary of a run must count its written cases by status.
announced() {
  local summary counted
  [ -s "$2/results.jsonl" ] || return 0
  summary=$(grep '"record":"summary"' "$2/results.jsonl" | tail -n 1)
  [ -n "$summary" ] || return 0
  counted=$(grep -oE '"(pass|fail|crash|hang|unsupported|skip|fallback|mistrusted|unproved|expected|flake|unexpected)":[0-9]+' <<<"$summary" | cut -d: -f2 | paste -sd+)
  [ "$((counted))" = "$(grep -c '"record":"case"' "$2/results.jsonl")" ] ||
    fail "$1: the summary counts $((counted)) cases, the file holds $(grep -c '"record":"case"' "$2/results.jsonl")"
  counts=$((counts + 1))
}

# brokenStdout NAME EXPECTED DESCRIPTION: stdout is descriptor 9.
brokenStdout() {
  local name=$1 expected=$2 folder=$scratch/out
  rm -rf "$folder" && mkdir -p "$folder"
  words "$name" "${row[$name]}" "$folder"
  started "$name, $3" "$folder" timeout -k 5 300 "${line[@]}" >&9
  $prints && [ "$code" != "$expected" ] && fail "$name: $3: expected $expected, got $code: $(tail -n 2 "$scratch/err")"
  oneLine "$name, $3"
}

stdouts() {
  local name=$1
  exec 9>/dev/full
  brokenStdout "$name" 2 'stdout is full'
  exec 9> >(exit 0)
  wait $!
  brokenStdout "$name" 141 'the reader left'
  exec 9>&-
  local folder=$scratch/out
  rm -rf "$folder" && mkdir -p "$folder"
  words "$name" "${row[$name]}" "$folder"
  started "$name, stdout is closed" "$folder" timeout -k 5 300 "${line[@]}" >&-
  $prints && [ "$code" != 2 ] && fail "$name: stdout is closed: expected 2, got $code: $(tail -n 2 "$scratch/err")"
  oneLine "$name, stdout is closed"
}

# A tmpfs of 64 KiB, once empty and once with one page left.
fullDisk() {
  local name=$1 free
  case ${row[$name]} in *@*) ;; *) return 0 ;; esac
  for free in 64 4; do
    rm -rf "$scratch/disk"/* "$scratch/disk"/.[a-z]* 2>/dev/null
    [ $free = 64 ] || head -c $(((64 - free) * 1024)) /dev/zero >"$scratch/disk/filling"
    words "$name" "${row[$name]}" "$scratch/disk"
    started "$name, $free KiB of disk" "$scratch/disk" timeout -k 5 300 "${line[@]}" >"$scratch/stdout"
    if [ "$code" = 2 ]; then
      grep -q 'No space left' "$scratch/err" || fail "$name, $free KiB of disk: expected the cause, got: $(cat "$scratch/err")"
      oneLine "$name, $free KiB of disk"
    elif [ "$code" != "$calm_code" ]; then
      fail "$name, $free KiB of disk: expected 2 or $calm_code, got $code"
    elif [ "$(df --output=avail "$scratch/disk" | tail -n 1)" = 0 ] && [ $free = 4 ]; then
      fail "$name, $free KiB of disk: the disk is full and nothing was said"
    fi
    documents "$name, $free KiB of disk" "$scratch/disk"
  done
}

# --- Options -----------------------------------------------------------------------------------------------------------
folderValue=$scratch/folder
hostile=('' nan -1 1e99 $'\xff\xfe' "$folderValue")
$full && hostile+=(inf 0 99999999999999999999 0x10 /proc/no/place ' ' '{}' ',')

# without OPTION: `line` without the option and its value.
without() {
  local kept=() skip=false word
  for word in "${line[@]}"; do
    if $skip; then skip=false; elif [ "$word" = "$1" ]; then skip=true; else kept+=("$word"); fi
  done
  line=("${kept[@]}")
}

mustRefuse() {  # TYPE VALUE
  case $1:$2 in
    *:) return 0 ;;
    UINT*:0 | SIZE:0 | FLOAT*:0 | FLOAT*:-1 | FLOAT*:1e99 | FLOAT*:99999999999999999999) return 1 ;;
    UINT*:* | SIZE:* | FLOAT*:*) return 0 ;;
    *) return 1 ;;
  esac
}

tryValue() {  # NAME WHAT TYPE VALUE: runs `line`
  started "$1 $2 '$4'" "$scratch/out" timeout -k 5 120 "${line[@]}" >/dev/null
  case $code in 0 | 1 | 2 | 3) ;; *) fail "$1: $2 '$4' ended with $code" ;; esac
  oneLine "$1 $2 '$4'"
  mustRefuse "$3" "$4" && [ "$code" != 2 ] && fail "$1: $2 '$4' is accepted (exit code $code)"
}

options() {
  local name=$1 option type value text=${quick[$1]-${row[$1]}}
  words "$name" '' ''
  while read -r option type; do
    for value in "${hostile[@]}"; do
      words "$name" "$text" "$scratch/out"
      without "$option"
      line+=("$option" "$value")
      [ "${value:0:1}" = - ] && line=("${line[@]:0:${#line[@]}-2}" "$option=$value")
      tryValue "$name" "$option" "$type" "$value"
    done
  done < <("${line[@]}" --help | sed -nE 's/^ +(-[a-z],)?(--[a-z-]+) ([^ ]+).*/\2 \3/p')
  case $text in *%*) ;; *) return 0 ;; esac
  for value in "${hostile[@]}"; do  # the first operand
    words "$name" "$text" "$scratch/out"
    local first=${text#*%} i
    first=${first%% *} first=${first//@/$scratch/out}
    for i in "${!line[@]}"; do [ "${line[i]}" != "$first" ] || { line[i]=$value; break; }; done
    tryValue "$name" operand TEXT "$value"
  done
}

# --- Files that are read and written -------------------------------------------------------------------------------------
# outputsOf NAME: the options that write one file, from the help text.
outputsOf() {
  words "$1" '' ''
  "${line[@]}" --help | awk '
    function writes(text) { return text ~ /^(Also write|Write|Append|Put|Replace|The file|The record|The SQLite file; created)/ && text !~ /folder| here/ }
    /^ +(-[a-z],)?--[a-z-]+/ {
      match($0, /--[a-z-]+/); option = substr($0, RSTART, RLENGTH)
      if (substr($0, 30) ~ /^ [^ ]/) { if (writes(substr($0, 31))) print option; option = "" }  # else on the next line
      next
    }
    option { sub(/^ +/, ""); if (writes($0)) print option; option = "" }'
}

# mustKeep NAME FILE: runs `line`, which gives FILE twice, once to be written; it is refused and FILE stays as it was. Some
# lines are refused for another reason first.
mustKeep() {
  local before
  before=$(sha256sum "$2" 2>/dev/null)
  started "$1" "$scratch/out" timeout -k 5 120 "${line[@]}" >/dev/null
  [ "$code" = 2 ] || fail "$1: expected a refusal, got $code: $(tail -n 2 "$scratch/err")"
  ! grep -q 'would be lost' "$scratch/err" || lost=$((lost + 1))
  oneLine "$1"
  [ "$before" = "$(sha256sum "$2" 2>/dev/null)" ] || fail "$1: the file has changed"
  pairs=$((pairs + 1))
}

clashes() {
  local name=$1 option other file i outputs
  mapfile -t outputs < <(outputsOf "$name")
  for option in "${outputs[@]}"; do
    words "$name" "${row[$name]}" "$scratch/out"
    without "$option"
    local plain=("${line[@]}")
    for i in "${!plain[@]}"; do
      [ "$i" -gt 0 ] && [ -f "${plain[i]}" ] && [[ ${plain[i]} == "$scratch"/* ]] || continue
      file=$scratch/clash_${plain[i]##*/}
      cp "${plain[i]}" "$file"
      ln -sf "$file" "$scratch/clash_link"
      line=("${plain[@]}" "$option" "$scratch/clash_link")
      line[i]=$file
      mustKeep "$name $option on its input" "$file"
    done
    for other in "${outputs[@]}"; do
      [[ $other < $option ]] || continue
      line=("${plain[@]}")
      without "$other"
      line+=("$option" "$scratch/clash_new" "$other" "$scratch/../${scratch##*/}/clash_new")
      mustKeep "$name $option and $other" "$scratch/clash_new"
    done
  done
}

# ./nightly in a tree that is built already, with short steps: every one checks the written cases of Relu and adds to the
# same results.
makeNightlyTree() {
  local tree=$scratch/tree program
  mkdir -p "$tree/build/release/bin" "$tree/stubs"
  cp "$source/nightly" "$tree/"
  for program in setup stubs/cmake; do printf '#!/bin/sh\n' >"$tree/$program"; done
  # The results are the last argument of every step.
  printf '#!/bin/sh\nfor last; do :; done\nexec %q check --written --op Relu --backend cpu --json "$last"\n' "$bin/op-harness" \
    >"$tree/build/release/bin/op-harness"
  printf '#!/bin/sh\nexec %q "$@"\n' "$bin/op-report" >"$tree/build/release/bin/op-report"
  chmod +x "$tree"/setup "$tree"/stubs/cmake "$tree"/build/release/bin/*
}

# Options of the program precede the command.
programOptions() {
  local program=$1 command=$2 option type value
  while read -r option type; do
    for value in "${hostile[@]}"; do
      words "$program $command" "${quick[$program $command]-${row[$program $command]}}" "$scratch/out"
      line=("${line[0]}" "$option=$value" "${line[@]:1}")
      [ -n "$value" ] || line=("${line[0]}" "$option" "" "${line[@]:2}")
      tryValue "$program" "$option" "$type" "$value"
    done
  done < <("$bin/$program" --help | sed -nE 's/^ +(-[a-z],)?(--[a-z-]+) ([^ ]+).*/\2 \3/p')
}

# --- The commands ------------------------------------------------------------------------------------------------------
commandsOf() { "$1" --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z-]\+\) .*/\1/p'; }

names=() programs=()
for program in "$bin"/op-*; do
  mapfile -t commands < <(commandsOf "$program")
  [ ${#commands[@]} = 0 ] || programs+=("$(basename "$program") ${commands[-1]}")
  for name in "${commands[@]/#/$(basename "$program") }"; do names+=("$name"); done
  [ ${#commands[@]} -gt 0 ] || names+=("$(basename "$program")")
done
for name in "${names[@]}"; do [ -n "${row[$name]+there}" ] || fail "$name has no row in harness/testing/hostile_test.sh"; done
for name in "${!row[@]}"; do
  case $name in *shaders | *watch) continue ;; esac  # a build without Vulkan has neither
  [[ " ${names[*]/%/,} " == *" $name, "* ]] || fail "there is no command $name any more; its row can go"
done
[ $failures = 0 ] || exit 1

# Input files of some commands.
"$bin/op-harness" check --written --op Relu,Exp --backend cpu --json "$scratch/results.jsonl" >/dev/null
sed 's/"backend":"cpu"/"backend":"vulkan"/' "$scratch/results.jsonl" >"$scratch/device.jsonl"
rm -f "$scratch/history.sqlite"
"$bin/op-report" add --history "$scratch/history.sqlite" "$scratch/results.jsonl" >/dev/null
cp "$source/harness/check/margins.tsv" "$scratch/"
awk 'BEGIN { print "name,run,value"; for (i = 0; i < 16800; ++i) print "sort/" i % 200 "," int(i / 1400) "," 1000 + i * 7 % 13 }' \
  >"$scratch/numbers.csv"
mkdir -p "$scratch/networks"
for network in squeezenet transformer; do
  mkdir -p "$scratch/networks/$network"
  "$bin/op-convert" zoo:$network "$scratch/networks/$network/model.onnx" >/dev/null
done
printf '{"opcase": 1, "backend": "cpu", "check": "accuracy", "reason": "none", "cases": ["%s"]}' "$relu" >"$scratch/failure.opcase"

mounted=false
if mount -t tmpfs -o size=64k tmpfs "$scratch/disk" 2>/dev/null; then
  mounted=true
  trap 'umount "$scratch/disk"' EXIT
fi
makeNightlyTree
row[nightly]='' names+=(nightly)
row[op-report detect --series]="%$scratch/numbers.csv" names+=('op-report detect --series')
cd "$scratch/home"
turn=$seed
# By day the choice ends after ten seconds; the first one always runs.
picks=0 pickSeconds=0 pairs=0 lost=0
chosen() {
  $full || [ -n "$only" ] && return
  ((turn++ % 28 == 0)) && { [ "$picks" = 0 ] || [ "$pickSeconds" -lt 10 ]; }
}
for name in "${names[@]}"; do
  [[ $name == *"$only"* ]] || continue
  # Each of its many options is a night of 25 steps: up to 18 minutes in all.
  [ "$name" != nightly ] || $full || [ -n "$only" ] || continue
  before=$failures
  calm "$name"  # of every command, by day too: 20 seconds
  [[ $name == nightly || $name == 'op-report detect --series' ]] || clashes "$name"
  chosen || continue
  picks=$((picks + 1)) begin=$SECONDS
  if [ "$failures" = "$before" ]; then
    for ((moment = 0; moment < moments; ++moment)); do
      if ((moment % 2)); then interrupted "$name" TERM 143; else interrupted "$name" INT 130; fi
    done
    [ "$name" = nightly ] || stdouts "$name"
    if $mounted; then fullDisk "$name"; else skipped=$((skipped + 1)); fi
    options "$name"
  fi
  pickSeconds=$((pickSeconds + SECONDS - begin))
  echo "$name: $took ms, $((failures - before)) failures"
done
for program in "${programs[@]}"; do ! { [[ $program == *"$only"* ]] && chosen; } || programOptions $program; done
echo "$runs runs of ${#names[@]} commands, $counts files of results counted, $pairs files given twice, $lost of them the reason, $failures failures"
[ -n "$only" ] || [ "$lost" -ge 12 ] || fail "expected 12 files or more that would be lost, got $lost"
[ $skipped = 0 ] || echo "skipped: a full disk under $skipped commands: this user may not mount a tmpfs"
[ $failures = 0 ]
