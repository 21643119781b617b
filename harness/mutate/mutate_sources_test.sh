#!/usr/bin/env bash
# mutate_sources.sh without a build: a compiler that does nothing, and a harness that sees every change of ops/, or none.
# Usage: harness/mutate/mutate_sources_test.sh SOURCE SCRATCH
set -euo pipefail
source=$1 scratch=$2
fail() { echo "mutate_sources_test: $*" >&2; exit 1; }
rm -rf "$scratch"
mkdir -p "$scratch/tools" "$scratch/copy/build/release/bin"
printf '#!/bin/sh\n' >"$scratch/tools/cmake"
harness=$scratch/copy/build/release/bin/op-harness
export PATH=$scratch/tools:$PATH
run() {  # what the harness does, expected code, expected last line
  printf '#!/bin/sh\n%s\n' "$1" >"$harness"
  chmod +x "$scratch/tools/cmake" "$harness"
  local code=0
  "$source/harness/mutate/mutate_sources.sh" --copy "$scratch/copy" --count 5 --seed 3 >"$scratch/log" 2>&1 || code=$?
  [ "$code" = "$2" ] || { cat "$scratch/log" >&2; fail "expected exit code $2, got $code"; }
  tail -n 1 "$scratch/log" | grep >/dev/null -F "$3" || { cat "$scratch/log" >&2; fail "expected '$3' at the end"; }
}
run 'git diff --quiet HEAD -- ops' 0 '5 of 5 killed, seed 3'
run 'exit 0' 1 'expected at least 80 %'
[ "$(grep -c '^survived ' "$scratch/log")" = 5 ] || fail "expected 5 survivors in the list"

# A run that is killed in the middle of a mutant: the next one builds the whole source again.
sources() { find "$scratch/copy/ops" -name '*.cpp' -newer "$scratch/marker"; }
printf '#!/bin/sh\ngit diff --quiet HEAD -- ops || kill -KILL "$(cat "%s")"\n' "$scratch/pid" >"$harness"
(echo "$BASHPID" >"$scratch/pid" && exec "$source/harness/mutate/mutate_sources.sh" --copy "$scratch/copy" --seed 3 >/dev/null 2>&1) || true
touch "$scratch/marker"
run 'exit 1' 2 'fail before anything is broken'
[ "$(sources | wc -l)" = 1 ] || fail "expected the source of the killed run to be newer than its object, got '$(sources)'"
first=$("$source/harness/mutate/mutate_sources.sh" --list --seed 3 --count 3)
[ "$first" = "$("$source/harness/mutate/mutate_sources.sh" --list --seed 3 --count 3)" ] || fail "a seed draws two lists"
[ "$first" != "$("$source/harness/mutate/mutate_sources.sh" --list --seed 4 --count 3)" ] || fail "two seeds draw one list"
rm -rf "$scratch"
echo "mutate_sources_test: ok"
