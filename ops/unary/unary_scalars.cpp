#include "ops/unary/unary_scalars.h"

#include <cmath>

namespace opkit::ops::unary {
namespace {

/// Clamps to [0, 1]; NaN stays.
double limit(double x) { return x < 0 ? 0 : x > 1 ? 1 : x; }
/// log(1 + e^x), without overflow.
double softplus(double x) { return (x < 0 ? 0 : x) + std::log1p(std::exp(-std::fabs(x))); }

/// A value that double would round too early: its rounding error is multiplied by the value in an exponential.
struct Split {
  explicit Split(long double value) : high(static_cast<double>(value)) {
    if (std::isfinite(high)) low = static_cast<double>(value - high);
  }
  double high, low = 0;
};
/// erfc moves by its slope times the rest of the argument.
double gelu(double x) {
  const Split z(-x * 0.70710678118654752440084436210484904L);
  const double slope = -M_2_SQRTPI * std::exp(-z.high * z.high);
  return 0.5 * x * (std::erfc(z.high) + slope * z.low);
}
double geluTanh(double x) {
  const long double wide = x;
  const Split exponent(-1.59576912160573071175978423973753L * (wide + 0.044715L * wide * wide * wide));
  return x / (1 + std::exp(exponent.high) * (1 + exponent.low));
}

double swish(double x, double a) {
  const Split exponent(-static_cast<long double>(a) * static_cast<long double>(x));
  return x / (1 + std::exp(exponent.high) * (1 + exponent.low));
}

}  // namespace

Scalars scalarsOf(std::string_view type) {
  Scalars scalars;
#define REAL(Result, value) \
  [](double x, [[maybe_unused]] double a, [[maybe_unused]] double b) -> Result { return value; }
#define INTEGER(Type, value)         \
  [](Type x) -> Type {               \
    using T [[maybe_unused]] = Type; \
    return value;                    \
  }
#define UNARY(id, Name, numericClass, alpha, beta, low, high, cpu, glsl) \
  if (type == #Name) scalars.real = REAL(double, cpu);
#define UNARY_TEST(id, Name, alpha, beta, cpu, glsl) \
  if (type == #Name) scalars.test = REAL(bool, cpu);
#define UNARY_INTEGER(id, Name, value, unsignedValue)           \
  if (type == #Name) {                                          \
    scalars.integer = INTEGER(int64_t, value);                  \
    scalars.unsignedInteger = INTEGER(uint64_t, unsignedValue); \
  }
#include "ops/unary/unary_table.h"
  return scalars;
}

}  // namespace opkit::ops::unary
