#include "engine/backend/cpu/row_kernel.h"

namespace opkit::cpu {
namespace {

/// Whether `shape` repeats along the first `axes` axes of `output`.
bool repeats(const Shape& shape, const Shape& output, size_t axes) {
  const size_t absent = output.size() - shape.size();
  for (size_t d = absent; d < axes; ++d)
    if (shape[d - absent] != 1) return false;
  return true;
}

bool hasAxes(const Shape& shape, const Shape& output, size_t axes) {
  return shape.size() == output.size() &&
         std::equal(output.begin(), output.begin() + static_cast<int64_t>(axes), shape.begin());
}

}  // namespace

RowSplit elementwiseRows(TensorList inputs, TensorList outputs) {
  const Shape& output = outputs[0]->desc.shape;
  for (size_t axes = output.size(); axes > 0; --axes) {
    RowSplit split{axes};
    for (const Tensor* input : inputs) {
      if (!input) return {};
      const bool isWhole = hasAxes(input->desc.shape, output, axes);
      if (!isWhole && !repeats(input->desc.shape, output, axes)) break;
      split.inputAxes.push_back(isWhole ? axes : 0);
    }
    if (split.inputAxes.size() == inputs.size()) return split;
  }
  return {};
}

RowSplit leadingRows(TensorList inputs, size_t axes) {
  RowSplit split{axes, std::vector<size_t>(inputs.size())};
  split.inputAxes[0] = axes;
  return split;
}

RowSplit channelRows(TensorList inputs) {
  const Shape& x = inputs[0]->desc.shape;
  if (x.size() < 2 || x[0] != 1) return leadingRows(inputs, std::min<size_t>(x.size(), 1));
  RowSplit split{2, std::vector<size_t>(inputs.size(), 1)};
  split.inputAxes[0] = 2;
  return split;
}

}  // namespace opkit::cpu
