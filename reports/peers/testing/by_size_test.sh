#!/usr/bin/env bash
# README.md holds the table that by_size.sh makes of measured.tsv. Usage: reports/peers/testing/by_size_test.sh SOURCE SCRATCH.
set -uo pipefail
source=$1 scratch=$2 bad=0
mkdir -p "$scratch"
fail() { echo "by_size_test: $*" >&2; bad=1; }
table=$("$source/reports/peers/by_size.sh") || fail "by_size.sh"
[ "$(wc -l <<<"$table")" = 7 ] || fail "expected 7 lines, got: $table"
while IFS= read -r line; do
  grep -qxF -- "$line" "$source/README.md" || fail "README.md lacks the line: $line"
done <<<"$table"

# By hand: two networks below 1 ms at 0.5 and 2 (geometric mean 1), one of 20 ms at 1.5.
printf 'network\tthreads\ttheirs\tours\n' >"$scratch/three.tsv"
printf 'a\t1\t0.5\t0.25\nb\t1\t0.1\t0.2\nc\t1\t20\t30\n' >>"$scratch/three.tsv"
made=$("$source/reports/peers/by_size.sh" "$scratch/three.tsv")
grep -qF '| below 1 ms | 2 | 1.00; 1 above 1, at most 2.00 (b) | no network |' <<<"$made" || fail "small networks: $made"
grep -qF '| 10 ms and more | 1 | 1.50; 1 above 1, at most 1.50 (c) |' <<<"$made" || fail "large networks: $made"
for file in "$scratch/absent.tsv" /dev/null; do
  "$source/reports/peers/by_size.sh" "$file" >/dev/null 2>"$scratch/err" && fail "accepts $file"
  [ "$(wc -l <"$scratch/err")" = 1 ] || fail "expected one line of error for $file, got $(cat "$scratch/err")"
done
exit $bad
