#!/usr/bin/env bash
# The parts of the full night: the real table is well formed and names things that exist; in a tree with a table of short
# parts `next` takes turns, lines are written, red and cut parts are seen, old ones are named.
# Usage: reports/testing/night_parts_test.sh SOURCE BUILD SCRATCH
set -uo pipefail
source=$1 build=$2 scratch=$3
bad=0
fail() { echo "night_parts_test: $*" >&2; bad=1; }
expect() { [ "$2" = "$3" ] || fail "$1: expected '$3', got '$2'"; }

# The real table: every label, test and script that a command names exists.
list=$("$source/nightly" --full --parts) || fail "--parts ends with $?"
[ "$(wc -l <<<"$list")" -gt 20 ] || fail "--parts lists $(wc -l <<<"$list") lines"
awk 'NR > 1 && $2 > 12 {print "more than 12 minutes: " $1; bad = 1} END {exit bad}' <<<"$list" >&2 || bad=1
expect "names of parts that repeat" "$(awk '{print $1}' <<<"$list" | sort | uniq -d)" ""
while IFS= read -r label; do
  ctest --test-dir "$build" -N -L "^$label\$" | grep >/dev/null '^Total Tests: [1-9]' || fail "no test has the label $label"
done < <(grep -o "'^[a-z-]*\$'" "$source/reports/night/table.sh" | grep night | tr -d "'^$")
# Each label that ./test leaves out is run by a part (the cases of night-ops are those of the parts check).
ctest --test-dir "$build" --print-labels | sed -n 's/^  \(night-.*\)/\1/p' | grep -vx night-ops | while IFS= read -r label; do
  grep -qF "'^$label\$'" "$source/reports/night/table.sh" || { fail "no part runs the label $label"; exit 1; }
done || bad=1

tree=$scratch/tree
rm -rf "$tree"
mkdir -p "$tree/reports/night"
cp "$source/nightly" "$tree/"
cp "$source/reports/night/parts.sh" "$tree/reports/night/"
printf '%s\n' "part plain 1 'echo done-plain'" "part broken 2 'echo about-to-fail; exit 7'" "part both-1 3 true" \
  "part both-2 3 true" "limit=2" "part slow 1 'sleep 60'" >"$tree/reports/night/table.sh"
cd "$tree" && git init -q && git add -A && git -c user.name=t -c user.email=t@localhost commit -qm start
run() { reports/night/parts.sh "$@" >"$scratch/out" 2>&1; }
lines() { grep -c '^| 2' reports/nights.md; }
expect "before the first run" "$(reports/night/parts.sh --stale 30)" \
  "parts of the full night without a run in 30 days: 5 of 5: plain broken both-1 slow both-2 (./nightly --full --part next)"
run --run next || fail "next: $(cat "$scratch/out")"
grep -q 'done-plain' out/parts/plain/log || fail "the log lacks the output"
grep -qE "^\| $(date -u +%F) \| $(git rev-parse --short HEAD) \| [a-z0-9_]+ \| plain \| green \| 0\.[0-9] \|\$" reports/nights.md || fail "line: $(tail -n 1 reports/nights.md)"
expect "after plain" "$(reports/night/parts.sh --next)" broken
run --run broken && fail "a broken part ends with 0"
grep -q 'about-to-fail' "$scratch/out" || fail "a broken part: the end of its log is not printed"
grep -q 'again: ./nightly --full --part broken' "$scratch/out" || fail "a broken part: no command to repeat it"
tail -n 1 reports/nights.md | grep >/dev/null '| broken | red: exit code 7 |' || fail "broken: $(tail -n 1 reports/nights.md)"
run --run slow && fail "a part that is cut ends with 0"
tail -n 1 reports/nights.md | grep >/dev/null '| slow | red: cut after ' || fail "slow: $(tail -n 1 reports/nights.md)"
expect "first parts of all kinds come first" "$(reports/night/parts.sh --next)" both-1
run --run next && run --run next || fail "both: $(cat "$scratch/out")"
expect "all have run: the oldest" "$(reports/night/parts.sh --next)" plain
run --run plain
expect "plain ran again" "$(reports/night/parts.sh --next)" broken
expect "lines" "$(lines)" 6
run --run all && fail "all parts: a broken one ends with 0"
expect "all parts: lines" "$(lines)" 11
expect "nothing is stale" "$(reports/night/parts.sh --stale 30)" ""
sed -i '/| both-2 |/s/^| [0-9-]*/| 2020-01-31/' reports/nights.md
expect "one is stale" "$(reports/night/parts.sh --stale 30)" \
  "parts of the full night without a run in 30 days: 1 of 5: both-2 (./nightly --full --part next)"
reports/night/parts.sh --list | grep >/dev/null -E '^both-2 +3  2020-01-31  green$' || fail "--list: $(reports/night/parts.sh --list)"
run --run nope && fail "an unknown part runs"
expect "an unknown part" "$(cat "$scratch/out")" "nightly: --part expects a name of ./nightly --full --parts, got 'nope'"
for arguments in '--full --part nope' '--part plain' '--parts' '--full --night x' '--full --part' '--full --parts --night x'; do
  code=0
  ./nightly $arguments >"$scratch/out" 2>&1 || code=$?
  [ "$code" = 2 ] && [ "$(wc -l <"$scratch/out")" = 1 ] || fail "$arguments: expected one line and 2, got $code: $(cat "$scratch/out")"
done
exit $bad
