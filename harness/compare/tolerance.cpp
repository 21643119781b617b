#include "harness/compare/tolerance.h"

#include <cmath>

namespace opkit::harness {
namespace {

constexpr double kU = 0x1p-24;  // unit roundoff of fp32

/// S of one element: from the oracle, else the result itself.
double magnitudeAt(const OracleTensor& y, size_t i) {
  return i < y.magnitude.size() ? y.magnitude[i] : std::fabs(y.real[i]);
}

double terms(const OracleTensor& y) { return static_cast<double>(std::max<int64_t>(y.terms, 1)); }

double ulp32(double value) { return ulpOf(DType::Float32, value); }

/// The fp32 bound of element i.
double floatBound(NumericClass numeric, const OracleTensor& y, size_t i) {
  const double value = y.real[i];
  const double n = terms(y);
  switch (numeric) {
    case NumericClass::Exact:
    case NumericClass::Cast: return 0;
    case NumericClass::OneRounding: return ulp32(value);
    case NumericClass::FewRoundings: return 3 * ulp32(value);
    case NumericClass::Products:
      return kU * magnitudeAt(y, i) * std::min(n, 4 * std::sqrt(n)) + 2 * kU * std::fabs(value);
    case NumericClass::Sum: return 4 * kU * std::sqrt(n) * magnitudeAt(y, i);
    case NumericClass::Softmax: {
      // |x - max| <= |ln p| because the denominator is at least 1; a negative value is itself a logarithm.
      if (value <= 0) return (6 + 4 * std::fabs(value) + std::sqrt(n)) * 0x1p-23;
      return value * (6 + 4 * std::fabs(std::log(value)) + std::sqrt(n)) * 0x1p-23 + 0x1p-126;
    }
    case NumericClass::Norm: return 8 * kU * std::sqrt(n) * magnitudeAt(y, i) + 4 * ulp32(value);
    case NumericClass::Transcendental: return 5e-7 + 4 * ulp32(value);
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
    case NumericClass::Transcendental: return 1e-12;
  }
  return 0;
}

/// Zero if the expected value has an exact representation, else one rounding.
Tolerance exactLane(const OracleTensor& expected) {
  Tolerance result;
  result.nmseGate = expected.desc.dtype == DType::Float16 ? 5e-7 : 1e-13;
  for (const double value : expected.real) {
    const bool representable = roundTo(expected.desc.dtype, value) == value;
    result.bound.push_back(representable ? 0 : ulpOf(expected.desc.dtype, value));
  }
  return result;
}

}  // namespace

double ulpOf(DType dtype, double value) {
  const int fraction = dtype == DType::Float16 ? 10 : dtype == DType::Float32 ? 23 : 52;
  const int smallest = dtype == DType::Float16 ? -24 : dtype == DType::Float32 ? -149 : -1074;
  const int largest = dtype == DType::Float16 ? 15 : dtype == DType::Float32 ? 127 : 1023;
  if (value == 0 || !std::isfinite(value)) return std::ldexp(1.0, smallest);
  const int exponent = std::min(std::ilogb(value), largest);
  return std::ldexp(1.0, std::max(exponent - fraction, smallest));
}

double roundTo(DType dtype, double value) {
  if (dtype == DType::Float16) return toFloat(toHalf(value));
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
  if (!isFloat(dtype) || exact) return result;
  if (lane == Lane::Exact) return exactLane(expected);
  const bool half = dtype == DType::Float16;
  const double precision = dtype == DType::Float64 ? 0x1p-29 : 1;  // fp64 is held to fp64's u
  result.bound.resize(expected.real.size());
  for (size_t i = 0; i < result.bound.size(); ++i) {
    const double ulp = half ? ulpOf(dtype, expected.real[i]) : 0;
    result.bound[i] = scale * (precision * floatBound(def.numeric, expected, i) + ulp);
  }
  result.nmseGate = scale * scale * std::max(floatGate(def.numeric, expected), half ? 5e-7 : 0);
  return result;
}

}  // namespace opkit::harness
