#include "ops/matmul/matmul.h"

#include <cmath>

#include "engine/op/clamp.h"

namespace opkit::ops::matmul {
namespace {

// y += a*b for every matrix of the batch; the innermost loop runs along a row of b.
template <class T>
void accumulate(const MatMulPlan& plan, const std::vector<T>& a, const std::vector<T>& b, std::vector<T>& y) {
  for (int64_t batch = 0; batch < plan.batchCount(); ++batch) {
    const T* left = a.data() + plan.aMatrix(batch) * plan.rows * plan.depth;
    const T* right = b.data() + plan.bMatrix(batch) * plan.depth * plan.columns;
    T* result = y.data() + batch * plan.rows * plan.columns;
    for (int64_t row = 0; row < plan.rows; ++row)
      for (int64_t k = 0; k < plan.depth; ++k) {
        const T factor = left[row * plan.depth + k];
        for (int64_t column = 0; column < plan.columns; ++column)
          result[row * plan.columns + column] += factor * right[k * plan.columns + column];
      }
  }
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
  OPKIT_ASSIGN(const MatMulPlan plan, planMatMul(a.shape(), b.shape()));
  y.terms = plan.depth;
  if (!a.isReal()) {
    std::vector<uint64_t> sums(y.integer.size(), 0);
    accumulate(plan, wrapping(a.integer), wrapping(b.integer), sums);
    y.integer.assign(sums.begin(), sums.end());
    return Status::ok();
  }
  accumulate(plan, a.real, b.real, y.real);
  clampOf(args.params<MatMulParams>()).apply(y.real);
  if (!args.wantMagnitude) return Status::ok();
  y.magnitude.assign(y.real.size(), 0.0);
  accumulate(plan, absolute(a.real), absolute(b.real), y.magnitude);
  return Status::ok();
}

}  // namespace opkit::ops::matmul
