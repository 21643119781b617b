#!/usr/bin/env bash
# Adds an operator by copying one folder of ops/ and one of shaders/ in a scratch copy of the tree, builds the new
# files, and cross-checks the copied operator. Usage: ops/copy_operator_test.sh SCRATCH-DIR VULKAN(ON|OFF)
set -euo pipefail
source "$(dirname "$0")/../cmake/scratch_tree.sh"
scratch_enter "$1"
backends=cpu
[ "$2" = ON ] && backends=cpu,vulkan

for folder in ops shaders; do
  cp -r $folder/softmax $folder/copied_softmax
  find $folder/copied_softmax -depth -name '*softmax*' -type f | while IFS= read -r file; do
    mv "$file" "$(dirname "$file")/$(basename "$file" | sed 's/softmax/copied_softmax/')"
  done
  # Rename inside: identifiers, includes and the ONNX names that the original keeps.
  grep -rlE 'softmax|Softmax' $folder/copied_softmax |
    xargs sed -i -e 's/softmax/copied_softmax/g' -e 's/\bLogSoftmax/LogCopiedSoftmax/g' -e 's/\bSoftmax/CopiedSoftmax/g' \
      -e 's/NumericClass::CopiedSoftmax/NumericClass::Softmax/g' -e 's/kSoftmaxSchema/kCopiedSoftmaxSchema/g' \
      -e 's/dnnl::\(log\)\?copied_softmax/dnnl::\1softmax/g'
done

scratch_build copied_softmax
build/release/bin/op-harness check --op CopiedSoftmax --backend $backends
build/release/bin/op-harness check --op Softmax --backend cpu
rm -r ops/copied_softmax shaders/copied_softmax
scratch_unchanged
