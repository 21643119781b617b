#include "ops/unary/unary_scalars.h"

#include <cmath>

namespace opkit::ops::unary {
namespace {

/// Clamps to [0, 1]; NaN stays.
double limit(double x) { return x < 0 ? 0 : x > 1 ? 1 : x; }
/// log(1 + e^x), without overflow.
double softplus(double x) { return (x < 0 ? 0 : x) + std::log1p(std::exp(-std::fabs(x))); }

/// x times the share of the normal distribution below x. The argument of erfc is kept in two doubles: in the tail, erfc
/// amplifies its rounding by twice its square.
double gelu(double x) {
  constexpr double kRest = -4.8336466567264567e-17;  // of the square root of 1/2
  const double z = -x * M_SQRT1_2, tail = std::erfc(z);
  if (!std::isfinite(z)) return 0.5 * x * tail;
  const double rest = std::fma(-x, M_SQRT1_2, -z) - x * kRest;
  return 0.5 * x * (tail - rest * M_2_SQRTPI * std::exp(-z * z));
}

/// x / (1 + e^-u); the exponent is kept in two doubles for the same reason.
double geluTanh(double x) {
  const long double wide = x;
  const long double u = -1.5957691216057307118L * (wide + 0.044715L * wide * wide * wide);
  const auto high = static_cast<double>(u);
  const double rest = std::isfinite(high) ? static_cast<double>(u - high) : 0;
  return x / (1 + std::exp(high) * (1 + rest));
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
