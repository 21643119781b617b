#include "harness/compare/tolerance.h"

#include <cmath>
#include <limits>

#include "engine/tensor/float_format.h"

namespace opkit::harness {
namespace {

constexpr double kU = 0x1p-24;  // unit roundoff of fp32

/// S of one element: from the oracle, else the result itself.
double magnitudeAt(const OracleTensor& y, size_t i) {
  return i < y.magnitude.size() ? y.magnitude[i] : std::fabs(y.real[i]);
}

double terms(const OracleTensor& y) { return static_cast<double>(std::max<int64_t>(y.terms, 1)); }

/// How much finer the computation is than fp32: fp64 is held to fp64's u.
double precisionOf(DType dtype) { return dtype == DType::Float64 ? 0x1p-29 : 1; }

/// A result below the normal numbers of f32 may be flushed to zero, and rounded in any case.
double flushed(double value) { return std::fabs(value) < 0x1p-126 ? 0x1p-126 : 0; }

/// Besides the ULPs of Transcendental. Relative where the function is well conditioned, and never more than the
/// absolute error of the class; the operator's own floor where the function oscillates or cancels. A device may flush a
/// denormal result.
double transcendentalExtra(const OpDef& def, double value, double ulp) {
  return std::max(std::min(4 * ulp, 5e-7), def.errorFloor) + flushed(value);
}

/// The bound of element i of a result that is computed in fp32. `ulp` is that of fp32.
double floatBound(const OpDef& def, const OracleTensor& y, size_t i, double ulp) {
  const double value = y.real[i];
  const double n = terms(y);
  switch (def.numeric) {
    case NumericClass::Exact:
    case NumericClass::Cast: return 0;
    case NumericClass::OneRounding: return ulp;
    case NumericClass::FewRoundings: return 3 * ulp;
    case NumericClass::Products:
      return kU * magnitudeAt(y, i) * std::min(n, 4 * std::sqrt(n)) + 2 * kU * std::fabs(value);
    case NumericClass::Sum: return 4 * kU * std::sqrt(n) * magnitudeAt(y, i);
    case NumericClass::Softmax: {
      // |x - max| <= |ln p| because the denominator is at least 1; a negative value is itself a logarithm.
      if (value <= 0) return (6 + 4 * std::fabs(value) + std::sqrt(n)) * 0x1p-23;
      return value * (6 + 4 * std::fabs(std::log(value)) + std::sqrt(n)) * 0x1p-23 + 0x1p-126;
    }
    case NumericClass::Norm: return 8 * kU * std::sqrt(n) * magnitudeAt(y, i) + 4 * ulp;
    case NumericClass::Transcendental: return 4 * ulp + transcendentalExtra(def, value, ulp);
  }
  return 0;
}

double floatGate(NumericClass numeric, const OracleTensor& y) {
  switch (numeric) {
    case NumericClass::Exact:
    case NumericClass::Cast: return 0;
    case NumericClass::OneRounding: return 1e-13;
    case NumericClass::FewRoundings: return 1e-12;
    case NumericClass::Products: return 1e-10;
    case NumericClass::Sum: return 1e-12 * terms(y);
    case NumericClass::Softmax:
    case NumericClass::Norm: return 1e-11;
    case NumericClass::Transcendental: return 1e-13;
  }
  return 0;
}

/// The NMSE that a correct kernel may reach: no gate may be below. Its roundings are independent, so their mean square
/// is (bound / (4 sqrt 3))^2 (docs/numerics.md); few elements do not average, so a single one may use all of its bound.
/// The rounding of the result comes on top: below the normal numbers of the dtype it is no small part of a value.
double gateFloor(const OracleTensor& expected, const std::vector<double>& bound) {
  double allowed = 0, squares = 0;
  const auto count = static_cast<double>(std::max<size_t>(bound.size(), 1));
  const double share = 1.0 / 48 + 47.0 / 48 / count;
  for (size_t i = 0; i < bound.size(); ++i) {
    const double value = expected.real[i], rounding = ulpOf(expected.desc.dtype, value) / 2;
    if (!std::isfinite(value) || !std::isfinite(bound[i])) continue;
    allowed += share * bound[i] * bound[i] + rounding * rounding;
    squares += value * value;
  }
  return allowed == 0 ? 0 : allowed / squares;  // +Inf if all are zero: the bound decides alone
}

/// A bias of one ULP is an eighth of the bound of Transcendental below 1, and a quarter above; it hides there, since
/// the worst element of a correct kernel uses up to 6 ULP. Errors of both signs cancel in the mean: the kernels of ours
/// are below 0.07. Few elements do not average, and data of one place may have the error of one coefficient.
double biasGateOf(const OpDef& def, Lane lane, DType dtype, size_t elements) {
  constexpr size_t kFewest = 256;
  const bool isStored = dtype == DType::Float32 || dtype == DType::Float64;
  const bool isGated = def.numeric == NumericClass::Transcendental && lane == Lane::Normal && isStored;
  return isGated && elements >= kFewest ? 0.1 : std::numeric_limits<double>::infinity();
}

/// Zero if the expected value has an exact representation, else one rounding.
Tolerance exactLane(const OracleTensor& expected) {
  Tolerance result;
  for (const double value : expected.real) {
    const bool representable = roundTo(expected.desc.dtype, value) == value;
    result.bound.push_back(representable ? 0 : ulpOf(expected.desc.dtype, value));
  }
  result.nmseGate = expected.desc.dtype == DType::Float16 ? 5e-7 : 1e-13;
  result.nmseGate = std::max(result.nmseGate, gateFloor(expected, result.bound));
  return result;
}

}  // namespace

double ulpOf(DType dtype, double value) {
  const FloatFormat& format = formatOf(isFloat(dtype) ? dtype : DType::Float64);
  if (value == 0 || !std::isfinite(value)) return std::ldexp(1.0, format.leastExponent());
  const int exponent = std::min(std::ilogb(value), format.greatestExponent());
  return std::ldexp(1.0, std::max(exponent - format.fractionBits, format.leastExponent()));
}

ErrorBound errorBoundOf(NumericClass numeric) {
  switch (numeric) {
    case NumericClass::Exact: return {"Exact", "0: the expected value rounded once, to nearest even"};
    case NumericClass::Cast: return {"Cast", "0: the expected value rounded once, to nearest even"};
    case NumericClass::OneRounding: return {"OneRounding", "1 ULP"};
    case NumericClass::FewRoundings: return {"FewRoundings", "3 ULP (Vulkan allows division 2.5)"};
    case NumericClass::Products: return {"Products", "u·S·min(K, 4√K) + 2u·|y|"};
    case NumericClass::Sum: return {"Sum", "4u·√K·S"};
    case NumericClass::Softmax: return {"Softmax", "p·(6 + 4·|ln p| + √K)·2⁻²³"};
    case NumericClass::Norm: return {"Norm", "8u·√K·magnitude + 4 ULP"};
    case NumericClass::Transcendental:
      return {"Transcendental", "4 ULP + min(4 ULP, 5e-7); 4 ULP + the card's `errorFloor`, if that is more"};
  }
  return {};
}

bool hasExactLane(NumericClass numeric) {
  switch (numeric) {
    case NumericClass::FewRoundings:
    case NumericClass::Softmax:
    case NumericClass::Norm:
    case NumericClass::Transcendental: return false;
    default: return true;
  }
}

double roundTo(DType dtype, double value) {
  if (dtype == DType::Float16) return toFloat(toHalf(value));
  if (isCodedFloat(dtype)) return decode(formatOf(dtype), encode(formatOf(dtype), value));
  return dtype == DType::Float32 ? static_cast<double>(static_cast<float>(value)) : value;
}

Tolerance toleranceOf(const OpDef& def, Lane lane, const OracleTensor& expected, double scale) {
  Tolerance result;
  const DType dtype = expected.desc.dtype;
  if (lane == Lane::Specials && isFloat(dtype)) {
    result.byClass = true;
    return result;
  }
  const bool exact = def.numeric == NumericClass::Exact || def.numeric == NumericClass::Cast;
  result.signOfZero = lane == Lane::Edges && (exact || def.numeric == NumericClass::OneRounding);
  if (!isFloat(dtype) || exact) return result;
  if (lane == Lane::Exact && hasExactLane(def.numeric)) return exactLane(expected);
  const bool half = dtype == DType::Float16;
  const DType computed = half ? DType::Float32 : dtype;
  const double precision = precisionOf(dtype);
  result.bound.resize(expected.real.size());
  for (size_t i = 0; i < result.bound.size(); ++i) {
    const double ulp = ulpOf(computed, expected.real[i]) / precision;
    const double storage = half ? ulpOf(dtype, expected.real[i]) : 0;
    const bool sums = def.numeric == NumericClass::Sum || def.numeric == NumericClass::Products;
    const double lost = sums && computed == DType::Float32 && expected.real[i] != 0 ? flushed(expected.real[i]) : 0;
    result.bound[i] = scale * (precision * floatBound(def, expected, i, ulp) + storage + lost);
  }
  result.nmseGate = scale * scale * std::max(floatGate(def.numeric, expected), half ? 5e-7 : 0);
  result.nmseGate = std::max(result.nmseGate, gateFloor(expected, result.bound));
  result.biasGate = biasGateOf(def, lane, dtype, result.bound.size());
  // Edges are of all magnitudes: the largest alone would decide their mean.
  if (lane == Lane::Edges) result.nmseGate = std::numeric_limits<double>::infinity();
  return result;
}

}  // namespace opkit::harness
