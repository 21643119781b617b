#include <cmath>

#include "engine/op/loops.h"
#include "ops/variadic/variadic.h"

namespace opkit::ops::variadic {
namespace {

Status accumulate(const OracleArgs& args, double divisor) {
  OracleTensor& y = args.output();
  y.magnitude.assign(y.real.size(), 0.0);
  y.terms = static_cast<int64_t>(args.inputs.size());
  for (size_t k = 0; k < args.inputs.size(); ++k) {
    const std::vector<double>& x = args.input(k).real;
    forEachElement(loopsOver(y.shape(), {args.input(k).shape()}), [&](size_t i, const std::vector<int64_t>& at) {
      y.real[i] += x[static_cast<size_t>(at[0])];
      y.magnitude[i] += std::fabs(x[static_cast<size_t>(at[0])]) / divisor;
    });
  }
  for (double& value : y.real) value /= divisor;
  return Status::ok();
}

}  // namespace

Status sumReference(const OracleArgs& args) { return accumulate(args, 1.0); }

Status meanReference(const OracleArgs& args) { return accumulate(args, static_cast<double>(args.inputs.size())); }

}  // namespace opkit::ops::variadic
