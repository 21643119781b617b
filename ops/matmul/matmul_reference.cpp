#include <cmath>
#include <utility>

#include "engine/op/oracle_elements.h"
#include "ops/matmul/matmul_parts.h"

namespace opkit::ops::matmul {
namespace {

/// An operand as a batch of matrices. One of rank 1 is a row on the left, a column on the right.
struct Matrices {
  Shape batch;
  int64_t rows;
  int64_t columns;
  bool isTransposed = false;  // as stored: column by column

  int64_t at(int64_t row, int64_t column) const { return isTransposed ? column * rows + row : row * columns + column; }
};

Matrices matricesOf(const Shape& shape, bool isLeft, bool isTransposed) {
  const size_t rank = shape.size();
  if (rank == 1) return isLeft ? Matrices{{}, 1, shape[0]} : Matrices{{}, shape[0], 1};
  Matrices matrices{Shape(shape.begin(), shape.end() - 2), shape[rank - 2], shape[rank - 1], isTransposed};
  if (isTransposed) std::swap(matrices.rows, matrices.columns);
  return matrices;
}

// y += a*b for every matrix of the batch; the innermost loop runs along a row of b.
template <class T>
void accumulate(const OracleArgs& args, const std::vector<T>& a, const std::vector<T>& b, std::vector<T>& y) {
  const auto params = args.params<MatMulParams>();
  const Matrices left = matricesOf(args.input(0).shape(), true, params.trans_a);
  const Matrices right = matricesOf(args.input(1).shape(), false, params.trans_b);
  Shape batch = args.output().shape();
  for (size_t i = 0; i < 2; ++i)
    if (args.input(i).shape().size() > 1) batch.pop_back();
  forEachCoordinates(batch, [&](size_t i, const Coordinates& at) {
    const T* from = a.data() + static_cast<int64_t>(broadcastElementAt(left.batch, at)) * left.rows * left.columns;
    const T* with = b.data() + static_cast<int64_t>(broadcastElementAt(right.batch, at)) * right.rows * right.columns;
    T* result = y.data() + static_cast<int64_t>(i) * left.rows * right.columns;
    for (int64_t row = 0; row < left.rows; ++row)
      for (int64_t k = 0; k < left.columns; ++k)
        for (int64_t column = 0; column < right.columns; ++column)
          result[row * right.columns + column] += from[left.at(row, k)] * with[right.at(k, column)];
  });
}

std::vector<double> absolute(std::vector<double> values) {
  for (double& value : values) value = std::fabs(value);
  return values;
}

// Integer products wrap, as the stored types do; unsigned arithmetic makes that well defined.
std::vector<uint64_t> wrapping(const std::vector<int64_t>& values) { return {values.begin(), values.end()}; }

}  // namespace

Status reference(const OracleArgs& args) {
  const OracleTensor& a = args.input(0);
  const OracleTensor& b = args.input(1);
  OracleTensor& y = args.output();
  y.terms = matricesOf(a.shape(), true, args.params<MatMulParams>().trans_a).columns;
  if (!a.isReal()) {
    std::vector<uint64_t> sums(y.integer.size(), 0);
    accumulate(args, wrapping(a.integer), wrapping(b.integer), sums);
    y.integer.assign(sums.begin(), sums.end());
    return Status::ok();
  }
  accumulate(args, a.real, b.real, y.real);
  const auto params = args.params<MatMulParams>();
  clampReals(y, params.clamp_low, params.clamp_high);
  if (!args.wantMagnitude) return Status::ok();
  y.magnitude.assign(y.real.size(), 0.0);
  accumulate(args, absolute(a.real), absolute(b.real), y.magnitude);
  return Status::ok();
}

}  // namespace opkit::ops::matmul
