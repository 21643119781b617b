#include "engine/op/scatter.h"

#include <algorithm>
#include <cmath>

namespace opkit {
namespace {

/// The sum of a float element's absolute terms, of a product its absolute value.
double magnitudeOf(Combine combine, double magnitude, double old, double value, double result) {
  if (combine == Combine::Add) return (magnitude == 0 ? std::fabs(old) : magnitude) + std::fabs(value);
  return combine == Combine::Multiply ? std::fabs(result) : 0;
}

}  // namespace

Status checkCombine(Combine combine, const ShapeArgs& args) {
  const DType data = args.input(0).dtype, updates = args.input(2).dtype;
  if (data != updates)
    return Status::invalidArgument("updates must be {} like the data, got {}", nameOf(data), nameOf(updates));
  if (combine > Combine::Minimum)
    return Status::invalidArgument("reduction must be in [0, {}], got {}", static_cast<int>(Combine::Minimum),
                                   static_cast<int>(combine));
  if (data == DType::Bool && combine != Combine::Replace)
    return Status::invalidArgument("reduction of bool must be none, got number {}", static_cast<int>(combine));
  return Status::ok();
}

Status scatterAt(Combine combine, const std::vector<int64_t>& places, const OracleArgs& args) {
  OracleTensor& y = args.output();
  visitElements(args.input(0), y, [](const auto& from, auto& to) { to = from; });
  std::vector<int64_t> terms(static_cast<size_t>(y.elements()), 1);
  y.magnitude.assign(y.real.size(), 0);
  visitElements(args.input(2), y, [&](const auto& from, auto& to) {
    for (size_t i = 0; i < places.size(); ++i) {
      const auto at = static_cast<size_t>(places[i]);
      const auto old = std::exchange(to[at], combined(combine, to[at], from[i]));
      if (y.isReal())
        y.magnitude[at] = magnitudeOf(combine, y.magnitude[at], static_cast<double>(old), static_cast<double>(from[i]),
                                      static_cast<double>(to[at]));
      y.terms = std::max(y.terms, ++terms[at]);
    }
  });
  return Status::ok();
}

}  // namespace opkit
