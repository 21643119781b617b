#!/usr/bin/env bash
# Odd files and odd words on the command lines of all programs. JSON with values of wrong types gets a line of our own, none of
# a library; few descriptors give their true cause; pipes, sockets and folders are called so; a file that is written over keeps
# its mode, and a link leads on; behind -- everything is an operand; an option takes one value each time.
# Usage: harness/testing/odd_files_test.sh SOURCE BIN SCRATCH
set -uo pipefail
source=$(realpath "$1") bin=$(realpath "$2") scratch=$3
bad=0 runs=0 code=0
fail() { echo "odd_files_test: $*" >&2; bad=1; }
# Those that the caller left open would count below.
for open in /proc/self/fd/*; do
  descriptor=${open##*/}
  if ((descriptor > 2 && descriptor < 255)); then eval "exec $descriptor>&-"; fi
done
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch" || exit 2
export OPKIT_CACHE_DIR=off LC_ALL=C
relu='Relu/f32[3,4]/normal/seed=7'
run() {  # program, arguments...: exit code in `code`, texts in the files out and err
  local program=$1
  shift
  code=0 runs=$((runs + 1))
  timeout 60 ${limited:+prlimit --nofile="$limited"} "$bin/$program" "$@" </dev/null >out 2>err || code=$?
}
# refused WORDS PROGRAM ARGUMENTS...
refused() {
  local words=$1 lines
  shift
  run "$@"
  mapfile -t lines <err
  [ $code = 2 ] && [ ${#lines[@]} = 1 ] && [[ ${lines[0]} == "$1: "*"$words"* ]] || fail "$*: expected '$words', got $code: ${lines[*]}"
}
passes() {  # program, arguments...
  run "$@"
  [ $code = 0 ] || fail "$*: ended with $code: $(head -c 300 err)"
}
passes op-harness check --case "$relu" --backend cpu --json results.jsonl --evidence evidence.md
passes op-report add results.jsonl --history history.sqlite

# --- JSON with values of wrong types -----------------------------------------------------------------------------------
foreign='json[.]exception|basic_string|std::|vector::|stoi|bad_alloc|_M_|unexpected:'
# damaged TEXT FILE PROGRAM ARGUMENTS...: the file with this text.
damaged() {
  printf '%s\n' "$1" >"$2"
  shift 2
  refused '' "$@"
  ! grep -E "$foreign" out err || fail "$*: the text of a library, for $(head -c 200 "${@: -1}")"
}
for text in '{' '{"cases": [{"op": "Relu", "inputs": [["f32[2]"]], "seed": "x"}]}'; do
  damaged "$text" odd.cases.json op-harness check --backend cpu --cases odd.cases.json
done
damaged '{"opcase": "1", "cases": ["x"]}' odd.opcase op-harness replay odd.opcase
for change in 's/"outcome":"[a-z]*"/"outcome":[]/' 's/"statuses":{/"statuses":[],"old":{/'; do
  damaged "$(sed "$change" evidence.md)" odd.md op-harness check --verify odd.md
  ! cmp -s evidence.md odd.md || fail "the evidence has no field for $change"
done
damaged '{"version": 1, "name": "Odd", "kind": {}, "attrs": [1]}' odd.json op-scaffold --root "$source" new --dry-run --spec odd.json
damaged '{"record":"run","schema":3,"run":"a","planned":7}' odd.jsonl op-report build --output odd.html odd.jsonl
damaged '{"context": 1, "benchmarks": [{"name": 1}]}' odd.json op-report detect --series odd.json
damaged '{"ICD": {"library_path": []}}' odd.json op-run zoo:transformer --driver odd.json

# --- Few descriptors: the true cause, from the least with which the programs can be loaded -------------------------------
for row in "4:op-report add results.jsonl --history few.sqlite" "4:op-scaffold --root $source where Softmax" \
  "5:op-harness check --case $relu --backend cpu --json few.jsonl" "6:op-harness check --case $relu --backend cpu"; do
  limited=${row%%:*}
  # shellcheck disable=SC2086
  refused 'Too many open files' ${row#*:}
  ! grep -E "filesystem error|unexpected:|other sources" err || fail "$row: another cause"
done
limited=

# --- What is no file ---------------------------------------------------------------------------------------------------
mkfifo pipe
python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'
mkdir folder
refused "pipe': it is a pipe or a device" op-run zoo:transformer --plugin pipe
refused "'pipe': it is a pipe or a device" op-report history --history pipe
refused "'socket': it is a socket" op-run socket
refused "socket: cannot be read: it is a socket" op-report build socket --output odd.html
refused "'socket': it is a socket" op-harness costs socket
refused "'socket': it is a socket" op-report device results.jsonl --output socket
refused "'folder': it is a folder" op-report history --history folder
refused 'No such file or directory' op-run zoo:transformer --tuning-guesses nowhere

# --- Files that are written over ---------------------------------------------------------------------------------------
umask 022
passes op-report build results.jsonl --output page.html
chmod 600 page.html
ln -s ../page.html folder/link.html
passes op-report build results.jsonl --output folder/link.html
[ -L folder/link.html ] && [ "$(stat -c %a page.html)" = 600 ] || fail "a page: mode $(stat -c %a page.html), $(ls -l folder)"
(umask 077 && passes op-convert zoo:transformer folder/model.onnx)
[ "$(stat -c %a folder/model.onnx)" = 600 ] || fail "a new file has the mode $(stat -c %a folder/model.onnx)"

# --- Words -------------------------------------------------------------------------------------------------------------
cp results.jsonl ./-n.jsonl
cp results.jsonl build
passes op-report build --output page.html -- -n.jsonl build
refused "cannot read '-nope'" op-run -- -nope
refused "cannot read '-nope'" op-convert -- -nope -x.opk
refused "'-nope'" op-scaffold --root "$source" where -- -nope
refused "unexpected argument 'Exp'" op-harness check --op Relu Exp
refused "unexpected argument 'few'" op-report history --history history.sqlite --metric margin few
passes op-report history --history history.sqlite --metric margin,status --metric executeWall
echo "$runs runs"
exit $bad
