#include <cmath>

#include "engine/op/clamp.h"
#include "ops/gemm/gemm.h"

namespace opkit::ops::gemm {
namespace {

struct Operands {
  std::vector<double> a;
  std::vector<double> b;
  std::vector<double> c;  // empty if there is none
  double alpha;
  double beta;
};

void makeAbsolute(std::vector<double>& values) {
  for (double& value : values) value = std::fabs(value);
}

void compute(const GemmPlan& plan, const Operands& in, std::vector<double>& y) {
  for (int64_t row = 0; row < plan.rows; ++row) {
    double* result = y.data() + row * plan.columns;
    for (int64_t k = 0; k < plan.depth; ++k) {
      const double factor = in.a[static_cast<size_t>(row * plan.aRowStride + k * plan.aDepthStride)];
      const double* right = in.b.data() + k * plan.bDepthStride;
      for (int64_t column = 0; column < plan.columns; ++column)
        result[column] += factor * right[column * plan.bColumnStride];
    }
    for (int64_t column = 0; column < plan.columns; ++column) {
      result[column] *= in.alpha;
      if (!in.c.empty())
        result[column] += in.beta * in.c[static_cast<size_t>(row * plan.cRowStride + column * plan.cColumnStride)];
    }
  }
}

}  // namespace

Status reference(const OracleArgs& args) {
  const auto params = args.params<GemmParams>();
  const Shape* c = args.hasInput(2) ? &args.input(2).shape() : nullptr;
  OPKIT_ASSIGN(const GemmPlan plan, planGemm(params, args.input(0).shape(), args.input(1).shape(), c));
  Operands in{args.input(0).real, args.input(1).real, c ? args.input(2).real : std::vector<double>(), params.alpha,
              params.beta};
  OracleTensor& y = args.output();
  compute(plan, in, y.real);
  clampOf(params).apply(y.real);
  // The products, the addition of C, and one rounding each for alpha and beta.
  y.terms = plan.depth + (c ? 1 : 0) + (params.alpha != 1 ? 1 : 0) + (c && params.beta != 1 ? 1 : 0);
  if (!args.wantMagnitude) return Status::ok();

  makeAbsolute(in.a);
  makeAbsolute(in.b);
  makeAbsolute(in.c);
  in.alpha = std::fabs(in.alpha);
  in.beta = std::fabs(in.beta);
  y.magnitude.assign(y.real.size(), 0.0);
  compute(plan, in, y.magnitude);
  return Status::ok();
}

}  // namespace opkit::ops::gemm
