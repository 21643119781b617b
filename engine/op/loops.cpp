#include "engine/op/loops.h"

namespace opkit {
namespace {

/// Whether loop d of the strides continues the last loop kept, for every operand.
bool continues(const Loops& kept, const std::vector<DimVector>& strides, size_t d, int64_t size) {
  for (size_t operand = 0; operand < strides.size(); ++operand)
    if (kept.strides[operand].back() != strides[operand][d] * size) return false;
  return true;
}

}  // namespace

Loops mergeLoops(const Shape& size, const std::vector<DimVector>& strides) {
  Loops loops{{}, std::vector<DimVector>(strides.size())};
  for (size_t d = 0; d < size.size(); ++d) {
    if (size[d] == 1) continue;
    const bool merges = !loops.size.empty() && continues(loops, strides, d, size[d]);
    if (merges)
      loops.size.back() *= size[d];
    else
      loops.size.push_back(size[d]);
    for (size_t operand = 0; operand < strides.size(); ++operand) {
      if (merges)
        loops.strides[operand].back() = strides[operand][d];
      else
        loops.strides[operand].push_back(strides[operand][d]);
    }
  }
  return loops;
}

Loops loopsOver(const Shape& shape, const std::vector<Shape>& operands) {
  std::vector<DimVector> strides;
  for (const Shape& operand : operands) strides.push_back(broadcastStrides(operand, shape));
  return mergeLoops(shape, strides);
}

}  // namespace opkit
