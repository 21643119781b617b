#include <algorithm>
#include <cmath>

#include "ops/non_max_suppression/non_max_suppression_parts.h"

namespace opkit::ops::non_max_suppression {
namespace {

/// One dimension of a box.
struct Side {
  double low, high;
};

Side sideOf(const double* box, size_t dimension, bool aroundCentre) {
  const double a = box[dimension], b = box[dimension + 2];
  return aroundCentre ? Side{a - b / 2, a + b / 2} : Side{std::fmin(a, b), std::fmax(a, b)};
}

/// Intersection over union of two boxes; 0 if either has no area.
double overlapOf(const double* p, const double* q, bool aroundCentre) {
  double common = 1, first = 1, second = 1;
  for (const size_t dimension : {0, 1}) {
    const Side a = sideOf(p, dimension, aroundCentre), b = sideOf(q, dimension, aroundCentre);
    first *= a.high - a.low;
    second *= b.high - b.low;
    common *= std::fmax(0.0, std::fmin(a.high, b.high) - std::fmax(a.low, b.low));
  }
  return common > 0 && first > 0 && second > 0 ? common / (first + second - common) : 0;
}

}  // namespace

Status reference(const OracleArgs& args) {
  const Shape& shape = args.input(1).shape();
  const bool aroundCentre = args.params<NonMaxSuppressionParams>().center_point_box;
  const double limit = args.hasInput(3) ? args.input(3).real[0] : 0;
  const int64_t rows = shape[0] * shape[1], boxes = shape[2];
  const int64_t most = rows > 0 ? args.output(0).shape()[0] / rows : 0;
  std::vector<int64_t>& indices = args.output(0).integer;
  size_t next = 0;
  for (int64_t row = 0; row < rows; ++row) {
    const double* scores = args.input(1).real.data() + row * boxes;
    const double* corners = args.input(0).real.data() + row / shape[1] * boxes * 4;
    std::vector<int64_t> order, kept;
    for (int64_t i = 0; i < boxes; ++i)
      if (args.hasInput(4) ? scores[i] > args.input(4).real[0] : !std::isnan(scores[i])) order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return scores[a] > scores[b]; });
    for (const int64_t i : order) {
      if (static_cast<int64_t>(kept.size()) == most) break;
      const auto overlaps = [&](int64_t k) {
        return overlapOf(corners + 4 * i, corners + 4 * k, aroundCentre) > limit;
      };
      if (std::none_of(kept.begin(), kept.end(), overlaps)) kept.push_back(i);
    }
    for (const int64_t i : kept)
      for (const int64_t word : {row / shape[1], row % shape[1], i}) indices[next++] = word;
  }
  if (args.outputs.size() > 1) args.output(1).integer[0] = static_cast<int64_t>(next / 3);
  return Status::ok();
}

}  // namespace opkit::ops::non_max_suppression
