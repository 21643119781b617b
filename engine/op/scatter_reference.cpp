// The oracle's part of scatters.
#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/op/scatter.h"

namespace opkit {
namespace {

/// The sum of a float element's absolute terms, of a product its absolute value.
double magnitudeOf(Combine combine, double magnitude, double old, double value, double result) {
  if (combine == Combine::Add) return (magnitude == 0 ? std::fabs(old) : magnitude) + std::fabs(value);
  return combine == Combine::Multiply ? std::fabs(result) : 0;
}

/// The element after `value` met it. Integers wrap; those of uint64 are held as int64 and compared with their top bit
/// turned; sums of bool are true if a term is. NaN wins a maximum and a minimum.
double met(Combine combine, double old, double value, DType) {
  if (combine == Combine::Replace) return value;
  if (combine == Combine::Add) return value + old;
  if (combine == Combine::Multiply) return value * old;
  if (std::isnan(old) || std::isnan(value)) return NAN;
  return combine == Combine::Maximum ? std::fmax(old, value) : std::fmin(old, value);
}
int64_t met(Combine combine, int64_t old, int64_t value, DType dtype) {
  const int64_t flip = dtype == DType::UInt64 ? std::numeric_limits<int64_t>::min() : 0;
  if (dtype == DType::Bool && combine == Combine::Add) return old != 0 || value != 0 ? 1 : 0;
  const auto [least, largest] = std::minmax({old ^ flip, value ^ flip});
  int64_t wrapped = value;
  if (combine == Combine::Add) static_cast<void>(__builtin_add_overflow(old, value, &wrapped));
  if (combine == Combine::Multiply) static_cast<void>(__builtin_mul_overflow(old, value, &wrapped));
  if (combine == Combine::Maximum) return largest ^ flip;
  if (combine == Combine::Minimum) return least ^ flip;
  return wrapped;
}

}  // namespace

Status scatterAt(Combine combine, const std::vector<int64_t>& places, const OracleArgs& args) {
  OracleTensor& y = args.output();
  visitElements(args.input(0), y, [](const auto& from, auto& to) { to = from; });
  std::vector<int64_t> terms(static_cast<size_t>(y.elements()), 1);
  y.magnitude.assign(y.real.size(), 0);
  visitElements(args.input(2), y, [&](const auto& from, auto& to) {
    for (size_t i = 0; i < places.size(); ++i) {
      const auto at = static_cast<size_t>(places[i]);
      const auto old = std::exchange(to[at], met(combine, to[at], from[i], y.desc.dtype));
      if (y.isReal())
        y.magnitude[at] = magnitudeOf(combine, y.magnitude[at], static_cast<double>(old), static_cast<double>(from[i]),
                                      static_cast<double>(to[at]));
      y.terms = std::max(y.terms, ++terms[at]);
    }
  });
  return Status::ok();
}

}  // namespace opkit
