#include <algorithm>

#include "ops/trilu/trilu_parts.h"

namespace opkit::ops::trilu {

Status reference(const OracleArgs& args) {
  const Shape& shape = args.input(0).shape();
  const int64_t rows = shape[shape.size() - 2], columns = shape.back();
  const bool upper = args.params<TriluParams>().upper;
  // Diagonals beyond the matrix are all alike; the limits keep the sum from overflowing.
  const int64_t k = args.hasInput(1) ? std::clamp<int64_t>(args.input(1).integer[0], -kMaxElements, kMaxElements) : 0;
  visitElements(args.input(0), args.output(), [&](const auto& x, auto& y) {
    for (size_t i = 0; i < x.size(); ++i) {
      const auto at = static_cast<int64_t>(i);
      const int64_t row = at / columns % rows, column = at % columns;
      const bool keeps = upper ? column >= row + k : column <= row + k;
      if (keeps) y[i] = x[i];
    }
  });
  return Status::ok();
}

}  // namespace opkit::ops::trilu
