// Each weight by itself, in long double: how far its row is from the corners of its band.
#include <cmath>
#include <vector>

#include "engine/op/oracle_elements.h"
#include "ops/mel_weight_matrix/mel_weight_matrix_parts.h"

namespace opkit::ops::mel_weight_matrix {
namespace {

using Real = long double;

/// Row of the spectrum at corner `i` of `count`.
int64_t cornerAt(const OracleArgs& args, int64_t i, int64_t count) {
  const Real lower = 1 + static_cast<Real>(args.input(3).real[0]) / 700;
  const Real upper = 1 + static_cast<Real>(args.input(4).real[0]) / 700;
  // Equal steps of the logarithm are equal ratios.
  const Real hertz = 700 * (lower * std::pow(upper / lower, static_cast<Real>(i) / static_cast<Real>(count)) - 1);
  const Real row =
      static_cast<Real>(args.input(1).integer[0] + 1) * hertz / static_cast<Real>(args.input(2).integer[0]);
  return static_cast<int64_t>(std::floor(row));
}

Real weightAt(int64_t row, int64_t first, int64_t peak, int64_t last) {
  if (row == peak) return 1;
  if (row < first || row >= last) return 0;
  return row < peak ? static_cast<Real>(row - first) / static_cast<Real>(peak - first)
                    : static_cast<Real>(last - row) / static_cast<Real>(last - peak);
}

}  // namespace

Status reference(const OracleArgs& args) {
  OracleTensor& y = args.output();
  const int64_t count = args.input(0).integer[0] + 2;
  std::vector<int64_t> corners;
  for (int64_t i = 0; i < count; ++i) corners.push_back(cornerAt(args, i, count));
  forEachCoordinates(y.shape(), [&](size_t i, const Coordinates& at) {
    const auto band = corners.begin() + at[1];
    const Real weight = weightAt(at[0], band[0], band[1], band[2]);
    if (y.isReal())
      y.real[i] = static_cast<double>(weight);
    else
      y.integer[i] = weight == 1 ? 1 : 0;
  });
  return Status::ok();
}

}  // namespace opkit::ops::mel_weight_matrix
