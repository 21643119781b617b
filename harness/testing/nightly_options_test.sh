#!/usr/bin/env bash
# ./nightly refuses what it cannot use before it installs, builds or runs anything, in one line with exit code 2: histories,
# folders for outputs, folders of networks and data, names of nights, files to merge. Days of odd clocks are days.
# Usage: harness/testing/nightly_options_test.sh SOURCE SCRATCH
set -uo pipefail
source=$(realpath "$1") scratch=$2
bad=0
fail() { echo "nightly_options_test: $*" >&2; bad=1; }
rm -rf "$scratch"
mkdir -p "$scratch/tree/tools" "$scratch/empty" "$scratch/networks/one" "$scratch/tree/reports/history"
scratch=$(realpath "$scratch")
cp "$source/nightly" "$scratch/tree/"
cp "$source/reports/history/store.cpp" "$scratch/tree/reports/history/"
cd "$scratch/tree" || exit 2
# The first step of a night that begins.
printf '#!/bin/sh\necho began\nexit 9\n' >setup
chmod +x setup
touch ../networks/one/model.onnx ../file ../-strange.jsonl
mkfifo ../pipe
echo '{"record":"run"}' | tee ../results.jsonl ../--strange.jsonl >/dev/null
# header VERSION PROGRAM: the header of an SQLite file.
header() {
  printf 'SQLite format 3\0'
  head -c 44 /dev/zero
  printf '\0\0\0%b\0\0\0\0%s' "$1" "$2"
  head -c 28 /dev/zero
}
header '\02' OPKT >../history.sqlite
header '\03' OPKT >../newer.sqlite
header '\02' XPKT >../foreign.sqlite
head -c 5000 /dev/zero >../zeros
: >../none.sqlite

# refused WORDS ARGUMENTS...
refused() {
  local code=0 words=$1 lines
  shift
  ./nightly "$@" >../out 2>../err </dev/null || code=$?
  mapfile -t lines <../err
  [ $code = 2 ] && [ ${#lines[@]} = 1 ] && [ ! -s ../out ] && [[ ${lines[0]} == "nightly: "*"$words"* ]] ||
    fail "'$*': expected a refusal with '$words', got $code: ${lines[*]}"
  [ ! -e out ] && [ ! -e build ] || fail "'$*' made a folder"
}
# begins ARGUMENTS...
begins() {
  local code=0 lines
  ./nightly "$@" >../out 2>&1 </dev/null || code=$?
  mapfile -t lines <../out
  [ $code = 9 ] && [ "${lines[*]}" = began ] || fail "'$*': expected a night that begins, got $code: ${lines[*]}"
  rm -rf out build
}
refused 'is none' --history ../empty
refused 'is no SQLite database' --history ../zeros
refused 'is of another program' --history ../foreign.sqlite
refused 'has version 3, this tree reads 2' --history ../newer.sqlite
refused 'nothing can be written' --history /proc/history.sqlite
refused 'nothing can be written' --output /proc/night
refused 'nothing can be written' --output ../file/night
refused 'holds no model.onnx' --networks ../empty
refused 'expects a file of results' --merge ../pipe
refused 'expects lines of JSON' --merge ../results.jsonl ../zeros
refused 'expects a file of results' --merge --
refused 'expects a file of results' --merge ../results.jsonl -- --day
for date in 1960-01-01 2026-02-30 9999-01-01; do refused "'$date'" --night "$date"; done
begins --history ../history.sqlite --output ../night
begins --history ../none.sqlite --night some-name --networks ../networks --data ../networks
begins --merge ../results.jsonl -- ../--strange.jsonl
# The day of seconds since 1970.
eval "$(sed -n '/^day_of()/,/^}/p' nightly)"
for row in -86401:0 -1:0 0:0 86399:0 1780000000:20601 99999999999999:407407; do
  got=$(day_of "${row%:*}")
  [ "$got" = "${row#*:}" ] || fail "day_of ${row%:*}: expected ${row#*:}, got $got"
done
exit $bad
