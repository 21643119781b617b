#include <cmath>

#include "engine/op/oracle_elements.h"
#include "ops/quantized_binary/quantized_binary.h"

namespace opkit::ops::quantized_binary {
namespace {

/// The whole number nearest to `value`, an even one if two are.
double nearestWhole(double value) {
  const double below = std::floor(value), rest = value - below;
  return below + (rest > 0.5 || (rest == 0.5 && std::fmod(below, 2) != 0) ? 1 : 0);
}

double asFloat(double value) { return static_cast<float>(value); }
/// A quotient of scales; 0 unless it is finite.
double ratio(double scale, double yScale) {
  const double quotient = asFloat(scale / yScale);
  return std::isfinite(quotient) ? quotient : 0;
}

/// The ratios of a sum, of which the larger one is kept to 20 bits behind its first one.
struct Ratios {
  double a, b;
};
Ratios shortened(double a, double b) {
  const double larger = std::fmax(std::fabs(a), std::fabs(b));
  if (larger == 0) return {0, 0};
  const double unit = std::ldexp(1.0, std::ilogb(larger) - 20);
  return {nearestWhole(a / unit) * unit, nearestWhole(b / unit) * unit};
}

Status combine(const OracleArgs& args, bool isSum) {
  const OracleTensor &a = args.input(0), &b = args.input(3);
  OracleTensor& y = args.output();
  const double aScale = args.input(1).real[0], bScale = args.input(4).real[0], yScale = args.input(6).real[0];
  const int64_t aZero = args.input(2).integer[0], bZero = args.input(5).integer[0], yZero = args.input(7).integer[0];
  const bool isSigned = y.desc.dtype == DType::Int8;
  const double least = isSigned ? -128 : 0, greatest = isSigned ? 127 : 255;
  const Ratios ratios = shortened(ratio(aScale, yScale), ratio(bScale, yScale));
  const double both = asFloat(asFloat(aScale * bScale) / yScale);
  forEachCoordinates(y.shape(), [&](size_t i, const Coordinates& at) {
    const auto left = static_cast<double>(a.integer[broadcastElementAt(a.shape(), at)] - aZero);
    const auto right = static_cast<double>(b.integer[broadcastElementAt(b.shape(), at)] - bZero);
    const double value = isSum ? left * ratios.a + right * ratios.b : asFloat(left * right * both);
    const double whole = std::isnan(value)   ? least
                         : std::isinf(value) ? std::copysign(1e9, value)
                                             : nearestWhole(value) + static_cast<double>(yZero);
    y.integer[i] = static_cast<int64_t>(std::fmin(std::fmax(whole, least), greatest));
  });
  return Status::ok();
}

}  // namespace

Status addReference(const OracleArgs& args) { return combine(args, true); }
Status multiplyReference(const OracleArgs& args) { return combine(args, false); }

}  // namespace opkit::ops::quantized_binary
