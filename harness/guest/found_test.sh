#!/usr/bin/env bash
# Runs the programs of docs/found on the released library: each ends with 1, or by a signal, if it shows its fault. One that
# ends with 0 is named: the fault may depend on the processor. Fails if a program is broken, or if fewer than half show theirs.
# Usage: found_test.sh ROOT FOLDER-OF-NODE_MODULES [PATTERN]
set -euo pipefail
root=$1 modules=$2 pattern=${3:-ort-cpu-*}
[ -d "$modules/onnxruntime-node" ] || { echo "found_test: no onnxruntime-node in $modules (./setup --ort)"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export TMPDIR=$scratch  # the library leaves files there
ln -s "$(realpath "$modules")" "$scratch/node_modules"
failed=0 count=0 shown=0
for folder in "$root"/docs/found/$pattern/; do
  name=$(basename "$folder")
  cp -r "$folder" "$scratch/$name"
  code=0
  (cd "$scratch/$name" && timeout 60 node show.mjs) >"$scratch/$name.log" 2>&1 || code=$?
  count=$((count + 1))
  grep -q "^| .*found/$name" "$root/docs/found.md" || { echo "$name: docs/found.md has no row"; failed=1; }
  # A crash ends node with a signal's code.
  if [ $code -ge 128 ] || { [ $code -eq 1 ] && grep -q '^got' "$scratch/$name.log"; }; then
    shown=$((shown + 1))
  elif [ $code -eq 0 ]; then
    echo "$name: no fault on this processor"
  else
    echo "$name: exit code $code"; tail -n 3 "$scratch/$name.log"; failed=1
  fi
done
[ $count -gt 0 ] || { echo "found_test: no folder matches docs/found/$pattern"; exit 1; }
echo "$count programs run, $shown show their fault"
[ $((shown * 2)) -ge $count ] || failed=1
exit $failed
