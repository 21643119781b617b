#include <cmath>

#include "engine/op/oracle_elements.h"
#include "ops/variadic/variadic.h"

namespace opkit::ops::variadic {
namespace {

Status accumulate(const OracleArgs& args, double divisor) {
  OracleTensor& y = args.output();
  y.magnitude.assign(y.real.size(), 0.0);
  y.terms = static_cast<int64_t>(args.inputs.size());
  forEachCoordinates(y.shape(), [&](size_t i, const Coordinates& at) {
    double sum = 0;
    for (const OracleTensor* x : args.inputs) {
      const double term = x->real[broadcastElementAt(x->shape(), at)];
      sum += term;
      y.magnitude[i] += std::fabs(term) / divisor;
    }
    y.real[i] = sum / divisor;
  });
  return Status::ok();
}

}  // namespace

Status sumReference(const OracleArgs& args) { return accumulate(args, 1.0); }

Status meanReference(const OracleArgs& args) { return accumulate(args, static_cast<double>(args.inputs.size())); }

}  // namespace opkit::ops::variadic
