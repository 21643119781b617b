#!/usr/bin/env bash
# Hostile files of results: markup, quotes, template braces and control characters in every text; infinities, NaN and negative
# numbers in every number; texts of a megabyte; many cases; lines that are no JSON. Every command of op-report ends with an exit
# code of its own and without a control character in its output; pages have the elements of a harmless file's pages and, in a
# headless Chromium if there is one, run no planted script and leave no message on the console.
# Usage: reports/testing/hostile_results_test.sh BIN SCRATCH [CASES]
#   with CASES: `build`, `show`, `add` and `build --history` of so many cases alone; prints seconds and bytes
set -uo pipefail
bin=$(realpath "$1") scratch=$2 cases=${3:-} bad=0
make=$(realpath "$(dirname "$0")")/hostile_results.py
fail() { echo "hostile_results_test: $*" >&2; bad=1; }
rm -rf "$scratch"
mkdir -p "$scratch"
scratch=$(realpath "$scratch")
cd "$scratch" || exit 2
# report NAME EXPECTED ARGUMENTS...: the exit code is among EXPECTED; a refusal is one line; no control characters.
report() {
  local name=$1 expected=$2 code=0 begin=$SECONDS
  shift 2
  LC_ALL=C.UTF-8 timeout 300 "$bin/op-report" "$@" >said 2>complaint || code=$?
  [[ " $expected " = *" $code "* ]] || fail "$name: exit code $code of $1: $(head -c 300 complaint)"
  [ $code != 2 ] || [ "$(wc -l <complaint)" = 1 ] || fail "$name: $1 refuses in more than one line: $(head -c 300 complaint)"
  ! LC_ALL=C grep -aqP '[\x00-\x08\x0b-\x1f\x7f]' said complaint || fail "$name: a control character in the output of $1"
  [ -z "$cases" ] || echo "$1: $((SECONDS - begin)) s"
}
# page FILE MOST: the page ends, is at most MOST bytes long and holds no control character.
page() {
  [ "$(tail -c 8 "$1" | tr -d '\n')" = '</html>' ] || fail "$1: half a page"
  [ "$(stat -c %s "$1")" -le "$2" ] || fail "$1: $(stat -c %s "$1") bytes, at most $2 expected"
  ! LC_ALL=C grep -aqP '[\x00-\x08\x0b\x0c\x0e-\x1f]' "$1" || fail "$1: a control character"
}
# every NAME MOST: all commands on NAME.jsonl.
every() {
  report "$1" "0" build "$1.jsonl" --output "$1.html"
  report "$1" "0" show Relu "$1.jsonl"
  report "$1" "0" add "$1.jsonl" --history "$1.sqlite"
  report "$1" "0" build --history "$1.sqlite" --output "$1-history.html"
  report "$1" "0" show Relu --history "$1.sqlite"
  page "$1.html" "$2"
  page "$1-history.html" "$2"
}
if [ -n "$cases" ]; then
  "$make" million many.jsonl "$cases"
  every many 12000000
  grep -q 'and [0-9]* more' many.html || fail "nothing of $cases cases was left out of the page"
  echo "page: $(stat -c %s many.html) bytes"
  exit $bad
fi
"$make" write .
for name in hostile harmless numbers long; do every $name 2000000; done
for name in hostile numbers; do
  report $name "0 1" compare $name.jsonl $name.jsonl
  report $name "0" merge $name.jsonl -o merged.jsonl
  report $name "0" history --history $name.sqlite
  report $name "0 3" device $name.jsonl --output device.md
done
"$make" same hostile.html harmless.html || bad=1
"$make" same hostile-history.html harmless-history.html || bad=1
# Lines that no JSON writer makes: an escape of half a character, a number without end, a raw NUL and an escape sequence.
run='{"record":"run","schema":3,"run":"a"}'
for line in '"\ud800"' '"\udc00 x"' 1e999 'NaN' 'Infinity' '"\x00"' '"\x1b[2J"' '-' '"\xff\xfe"'; do
  printf '%s\n{"record":"case","kind":"check","id":"x","backend":"cpu","status":"pass","durationNs":'"$line"'}\n%s\n' "$run" "$run" >line.jsonl
  sed -i '3s/.*/{"record":"summary","run":"a"}/' line.jsonl
  report "$line" "2" build line.jsonl --output line.html
  report "$line" "2" show Relu line.jsonl
  report "$line" "2" add line.jsonl --history line.sqlite
done
[ ! -e line.html ] && [ ! -e line.sqlite ] || fail "a refused file left something behind"
if command -v chromium >/dev/null; then
  for name in hostile hostile-history; do
    HOME=$scratch timeout 60 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --enable-logging=stderr \
      --virtual-time-budget=3000 --dump-dom "file://$scratch/$name.html" >"$name.dom" 2>"$name.err" ||
      fail "$name: chromium ended with $?"
    ! grep CONSOLE "$name.err" || fail "$name: a message on the console"
    grep -q '<title>OpKit report</title>' "$name.dom" || fail "$name: a planted script ran: $(grep -o '<title>[^<]*' "$name.dom" | head -1)"
    # The script adds one, of series.
    tables=$(($(grep -o '<table' "$name.html" | wc -l) + $(grep -c '<section id="series">' "$name.dom")))
    [ "$(grep -o '<table' "$name.dom" | wc -l)" = "$tables" ] || fail "$name: other tables in the browser"
    [ "$(grep -o '<script' "$name.dom" | wc -l)" = "$(grep -o '<script' "${name/hostile/harmless}.html" | wc -l)" ] || fail "$name: another script in the browser"
  done
fi
exit $bad
