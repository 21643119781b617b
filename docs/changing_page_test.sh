#!/usr/bin/env bash
# Runs docs/first-operator.md as written, in a scratch copy of the tree, and counts what was written by hand.
# Usage: docs/first_operator_test.sh SCRATCH-DIR
set -euo pipefail
source "$(dirname "$0")/../cmake/scratch_tree.sh"
scratch_enter "$1"
printed=$(mktemp)
docs/run_commands build/release/bin docs/first-operator.md | tee "$printed"
outside=$(git status --porcelain | grep -vE ' (ops|shaders)/hard_shrink/$' || true)
[ -z "$outside" ] || { echo "first operator: files outside its folders changed: $outside" >&2; exit 1; }
lines=$(sed -n 's/^written by hand: \([0-9]*\) lines.*/\1/p' "$printed")
rm "$printed"
[ "$lines" -lt 20 ] || { echo "first operator: expected under 20 lines by hand, got $lines" >&2; exit 1; }
build/release/bin/op-scaffold remove HardShrink --force >/dev/null
rm -r out
scratch_unchanged
