#include "harness/cases/vary.h"

#include <set>

namespace opkit::harness {
namespace {

/// A walk shares one model, so its constants must not change.
bool sameConstants(const Case& a, const Case& b) {
  return std::all_of(a.constants.begin(), a.constants.end(), [&](size_t i) { return a.inputs[i] == b.inputs[i]; });
}

}  // namespace

Case withExtent(const Case& c, int64_t from, int64_t to) {
  Case varied = c;
  varied.kernel.clear();  // kernels choose by shape
  varied.dropStored();
  for (auto& input : varied.inputs)
    if (input) std::replace(input->shape.begin(), input->shape.end(), from, to);
  return varied;
}

std::vector<int64_t> extentsOf(const Case& c) {
  std::set<int64_t, std::greater<>> extents;
  for (const auto& input : c.inputs)
    if (input) extents.insert(input->shape.begin(), input->shape.end());
  return {extents.begin(), extents.end()};
}

std::vector<Case> walkStops(const Case& c) {
  std::vector<Case> stops;
  const auto add = [&](const Case& varied) {
    if (varied.inputText() != c.inputText() && sameConstants(c, varied)) stops.push_back(varied);
  };
  for (const int64_t extent : extentsOf(c)) {
    if (extent <= 1 || stops.size() >= 2) break;
    add(withExtent(c, extent, extent + 1));
    add(withExtent(c, extent, 1));
  }
  return stops;
}

}  // namespace opkit::harness
