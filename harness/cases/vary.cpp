#include "harness/cases/vary.h"

#include <algorithm>
#include <set>

namespace opkit::harness {
namespace {

/// A walk shares one model, so its constants must not change.
bool sameConstants(const Case& a, const Case& b) {
  return std::all_of(a.constants.begin(), a.constants.end(), [&](size_t i) { return a.inputs[i] == b.inputs[i]; });
}

/// All extents but `kept` at most `most`.
Case withSmallExtents(const Case& c, int64_t kept, int64_t most) {
  Case small = c;
  for (const int64_t extent : extentsOf(c))
    if (extent != kept && extent > most) small = withExtent(small, extent, std::max<int64_t>(most - extent % 2, 1));
  return small;
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

const Shape* firstShape(const Case& c) { return c.inputs.empty() || !c.inputs[0] ? nullptr : &c.inputs[0]->shape; }

bool hasForm(const Case& c, size_t input) { return input < c.data.size() && !c.data[input].empty(); }

bool isData(const Case& c, const OpDef& def, size_t input) {
  const Port* port = portOf(def.inputs, input);
  return c.inputs[input] && port && !port->contents;
}

void setForm(Case& c, size_t input, const std::string& form) {
  c.data.resize(std::max(c.data.size(), input + 1));
  c.data[input] = form;
  c.lane = Lane::Designed;
}

std::vector<Case> grown(const Case& c, size_t input, size_t axis, int64_t to) {
  const int64_t from = c.inputs[input]->shape[axis];
  if (from == 0) return {};
  std::vector<Case> candidates;
  for (const int64_t most : {int64_t{1} << 30, int64_t{3}, int64_t{2}, int64_t{1}}) {
    const Case small = withSmallExtents(c, from, most);
    if (from > 1) candidates.push_back(withExtent(small, from, to));
    candidates.push_back(small);
    candidates.back().inputs[input]->shape[axis] = to;
  }
  return candidates;
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
