#include "ops/unary/unary_scalars.h"

#include <cmath>

namespace opkit::ops::unary {
namespace {

/// Clamps to [0, 1]; NaN stays.
double limit(double x) { return x < 0 ? 0 : x > 1 ? 1 : x; }
/// log(1 + e^x), without overflow.
double softplus(double x) { return (x < 0 ? 0 : x) + std::log1p(std::exp(-std::fabs(x))); }

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
