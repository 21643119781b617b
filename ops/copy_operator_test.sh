#!/usr/bin/env bash
# Adding an operator is copying one folder of ops/ and one of shaders/: does so in a scratch copy of the tree,
# builds it, and cross-checks the copied operator. Finds the objects of the unchanged files in ccache.
# Usage: ops/copy_operator_test.sh SOURCE-ROOT SCRATCH-DIR VULKAN(ON|OFF)
set -euo pipefail
root=$1
scratch=$2
vulkan=$3
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$root"
git ls-files -co --exclude-standard -z | while IFS= read -r -d '' file; do
  [ -f "$file" ] && printf '%s\0' "$file"
done | xargs -0 cp --parents -p -t "$scratch"
cd "$scratch"
before=$(find . -type f -not -path './ops/softmax*' -not -path './shaders/softmax*' -exec sha256sum {} + | sort | sha256sum)

for folder in ops shaders; do
  cp -r $folder/softmax $folder/copied_softmax
  find $folder/copied_softmax -depth -name '*softmax*' -type f | while IFS= read -r file; do
    mv "$file" "$(dirname "$file")/$(basename "$file" | sed 's/softmax/copied_softmax/')"
  done
  # Rename inside: identifiers, includes and the ONNX names that the original keeps.
  grep -rlE 'softmax|Softmax' $folder/copied_softmax |
    xargs sed -i -e 's/softmax/copied_softmax/g' -e 's/\bLogSoftmax/LogCopiedSoftmax/g' -e 's/\bSoftmax/CopiedSoftmax/g' \
      -e 's/NumericClass::CopiedSoftmax/NumericClass::Softmax/g' -e 's/kSoftmaxSchema/kCopiedSoftmaxSchema/g'
done

preset=${OPKIT_PRESET:-release}  # the same flags as the tree around it: the same objects in ccache
cmake --preset "$preset" -DOPKIT_TESTS=OFF -DOPKIT_VULKAN="$vulkan" >/dev/null
cmake --build --preset "$preset" --target op-harness
backends=cpu
[ "$vulkan" = ON ] && backends=cpu,vulkan
build/release/bin/op-harness check --op CopiedSoftmax --backend $backends
build/release/bin/op-harness check --op Softmax --backend cpu
after=$(find . -type f -not -path './ops/softmax*' -not -path './shaders/softmax*' -not -path './build/*' \
  -not -path './ops/copied_softmax*' -not -path './shaders/copied_softmax*' -exec sha256sum {} + | sort | sha256sum)
[ "$before" = "$after" ] || { echo "copying an operator changed other files" >&2; exit 1; }
rm -rf "$scratch"
