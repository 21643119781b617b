#!/usr/bin/env bash
# Runs the programs of docs/found on the released library: each must still show its fault, and exit with 1. A program
# that exits with 0 shows that the release no longer has the fault. Usage: found_test.sh ROOT FOLDER-OF-NODE_MODULES [PATTERN]
set -euo pipefail
root=$1 modules=$2 pattern=${3:-ort-cpu-*}
[ -d "$modules/onnxruntime-node" ] || { echo "found_test: no onnxruntime-node in $modules (./setup --ort)"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
ln -s "$(realpath "$modules")" "$scratch/node_modules"
failed=0 count=0
for folder in "$root"/docs/found/$pattern/; do
  name=$(basename "$folder")
  cp -r "$folder" "$scratch/$name"
  code=0
  (cd "$scratch/$name" && timeout 60 node show.mjs) >"$scratch/$name.log" 2>&1 || code=$?
  count=$((count + 1))
  grep -q "^| .*found/$name" "$root/docs/found.md" || { echo "$name: docs/found.md has no row"; failed=1; }
  # A crash ends node with a signal's code.
  [ $code -eq 1 ] || [ $code -ge 128 ] || { echo "$name: exit code $code"; tail -n 3 "$scratch/$name.log"; failed=1; }
done
[ $count -gt 0 ] || { echo "found_test: no folder matches docs/found/$pattern"; exit 1; }
echo "$count programs run"
exit $failed
