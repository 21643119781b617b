#!/usr/bin/env bash
# Runs a page that adds operators, in a scratch copy of the tree with the build around it, and counts what was written by
# hand. The part first-operator of the night runs it as written, from an empty folder.
# Usage: docs/changing_page_test.sh SCRATCH-DIR PAGE MOST-LINES OPERATOR=FOLDER...
set -euo pipefail
source "$(dirname "$0")/../cmake/scratch_tree.sh"
scratch_enter "$1"
page=$2 most=$3
shift 3
fail() { echo "$page: $*" >&2; exit 1; }
printed=$(mktemp)
OPKIT_PAGE_PRESET=release docs/run_commands build/release/bin "$page" | tee "$printed"
folders=$(printf '%s|' "${@#*=}")
outside=$(git status --porcelain | grep -vE " (ops|shaders)/(${folders%|})/\$" || true)
[ -z "$outside" ] || fail "files outside its folders changed: $outside"
lines=$(sed -n 's/^written by hand: \([0-9]*\) lines.*/\1/p' "$printed")
rm "$printed"
[ "$lines" -lt "$most" ] || fail "expected under $most lines by hand, got $lines"
for operator in "${@%=*}"; do build/release/bin/op-scaffold remove "$operator" --force >/dev/null; done
rm -rf out
scratch_unchanged
