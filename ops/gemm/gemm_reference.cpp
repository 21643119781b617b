#include <cmath>

#include "engine/op/oracle_elements.h"
#include "ops/gemm/gemm_parts.h"

namespace opkit::ops::gemm {
namespace {

/// The elements of a matrix, or of its transpose, as rows.
std::vector<std::vector<double>> rowsOf(const OracleTensor& matrix, bool transposed) {
  const int64_t rows = matrix.shape()[transposed ? 1 : 0], columns = matrix.shape()[transposed ? 0 : 1];
  std::vector<std::vector<double>> result(static_cast<size_t>(rows));
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      const Coordinates at = transposed ? Coordinates{column, row} : Coordinates{row, column};
      result[static_cast<size_t>(row)].push_back(matrix.real[elementAt(matrix.shape(), at)]);
    }
  return result;
}

}  // namespace

Status reference(const OracleArgs& args) {
  const auto params = args.params<GemmParams>();
  const auto a = rowsOf(args.input(0), params.trans_a), b = rowsOf(args.input(1), params.trans_b);
  const bool hasC = args.hasInput(2);
  OracleTensor& y = args.output();
  // The products, the addition of C, and one rounding each for alpha and beta.
  y.terms = static_cast<int64_t>(b.size()) + (hasC ? 1 : 0) + (params.alpha != 1 ? 1 : 0) +
            (hasC && params.beta != 1 ? 1 : 0);
  y.magnitude.assign(y.real.size(), 0.0);
  const auto columns = static_cast<size_t>(y.shape()[1]);
  for (size_t row = 0; row < a.size(); ++row)
    for (size_t k = 0; k < b.size(); ++k)
      for (size_t column = 0; column < columns; ++column) {
        const double term = params.alpha * a[row][k] * b[k][column];
        y.real[row * columns + column] += term;
        y.magnitude[row * columns + column] += std::fabs(term);
      }
  if (hasC)
    forEachCoordinates(y.shape(), [&](size_t i, const Coordinates& at) {
      const double term = params.beta * args.input(2).real[broadcastElementAt(args.input(2).shape(), at)];
      y.real[i] += term;
      y.magnitude[i] += std::fabs(term);
    });
  clampReals(y, params.clamp_low, params.clamp_high);
  return Status::ok();
}

}  // namespace opkit::ops::gemm
