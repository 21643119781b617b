#!/usr/bin/env bash
# Runs docs/first-operator.md as written, in a scratch copy of the tree, and counts what was written by hand.
# Usage: docs/first_operator_test.sh SOURCE-ROOT SCRATCH-DIR
set -euo pipefail
root=$1 scratch=$2
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$root"
git ls-files -co --exclude-standard -z | while IFS= read -r -d '' file; do
  [ -f "$file" ] && printf '%s\0' "$file"
done | xargs -0 cp --parents -p -t "$scratch"
cd "$scratch"
git init -q . && git add -A && git -c user.name=test -c user.email=test@localhost commit -qm start
docs/run_commands build/release/bin docs/first-operator.md | tee ../first_operator.txt
outside=$(git -C "$scratch" status --porcelain -uno; git -C "$scratch" status --porcelain | grep -vE ' (ops|shaders)/hard_shrink/$' || true)
[ -z "$outside" ] || { echo "first operator: files outside its folders changed: $outside" >&2; exit 1; }
lines=$(sed -n 's/^written by hand: \([0-9]*\) lines.*/\1/p' ../first_operator.txt)
[ "$lines" -lt 20 ] || { echo "first operator: expected under 20 lines by hand, got $lines" >&2; exit 1; }
cd ..
rm -rf "$scratch"
