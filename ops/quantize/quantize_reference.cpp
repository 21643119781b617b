#include <cmath>

#include "engine/op/oracle_elements.h"
#include "engine/tensor/float_format.h"
#include "engine/tensor/half.h"
#include "ops/quantize/quantize.h"

namespace opkit::ops::quantize {
namespace {

double widened(const OracleTensor& tensor, size_t i) {
  return tensor.isReal() ? tensor.real[i] : static_cast<double>(tensor.integer[i]);
}

/// `value` as the nearest number of a float type.
double nearest(DType dtype, double value) {
  if (dtype == DType::Float16) return toFloat(toHalf(value));
  if (dtype == DType::BFloat16) return decode(formatOf(dtype), encode(formatOf(dtype), value));
  return static_cast<float>(value);
}

/// Of a small float. With `saturate` nothing but NaN becomes NaN or infinite.
double nearestSmall(DType dtype, double value, bool saturate) {
  const FloatFormat& format = formatOf(dtype);
  const double result = decode(format, encode(format, value));
  if (std::isfinite(result) || !saturate || std::isnan(value)) return result;
  return std::copysign(decode(format, format.largestCode()), value);
}

struct Limits {
  double least, greatest;
};
Limits limitsOf(DType dtype) {
  switch (dtype) {
    case DType::Int2: return {-2, 1};
    case DType::UInt2: return {0, 3};
    case DType::Int4: return {-8, 7};
    case DType::UInt4: return {0, 15};
    case DType::Int8: return {-128, 127};
    case DType::UInt8: return {0, 255};
    case DType::Int16: return {-32768, 32767};
    default: return {0, 65535};
  }
}

/// The whole number nearest to `value`, an even one if two are, plus the zero point. NaN gives the least number.
int64_t wholeIn(DType dtype, double value, double zeroPoint) {
  const auto [least, greatest] = limitsOf(dtype);
  if (std::isnan(value)) return static_cast<int64_t>(least);
  const double below = std::floor(value), rest = value - below;
  const bool isUp = rest > 0.5 || (rest == 0.5 && std::fmod(below, 2) != 0);
  const double whole = (std::isinf(value) ? value : below + (isUp ? 1 : 0)) + zeroPoint;
  return static_cast<int64_t>(std::fmin(std::fmax(whole, least), greatest));
}

/// The number of the scale of the element at `at`.
size_t scaleAt(const Shape& scale, int64_t axis, int64_t blockSize, Coordinates at) {
  if (elementCount(scale) == 1) return 0;
  const size_t d = at.size() == 1 ? 0 : axisFromFront(axis, at.size());
  if (blockSize == 0) return static_cast<size_t>(at[d]);
  at[d] /= blockSize;
  return elementAt(scale, at);
}

}  // namespace

Status reference(const OracleArgs& args) {
  const auto params = args.params<QuantizeParams>();
  const OracleTensor &x = args.input(0), &scale = args.input(1);
  OracleTensor& y = args.output();
  const DType given = scale.desc.dtype, chosen = static_cast<DType>(params.precision);
  const bool isScaleReal = given == DType::Float16 || given == DType::BFloat16;
  const DType precision = params.precision != Precision::like_scale ? chosen : isScaleReal ? given : DType::Float32;
  forEachCoordinates(x.shape(), [&](size_t i, const Coordinates& at) {
    const size_t s = scaleAt(scale.shape(), params.axis, params.block_size, at);
    const double dividend = nearest(precision, nearest(DType::Float32, widened(x, i)));
    const double divisor = nearest(precision, nearest(DType::Float32, widened(scale, s)));
    // A double's quotient is so close that it rounds to f32 as the true one does, and f32's to the narrower types.
    const double quotient = nearest(precision, nearest(DType::Float32, dividend / divisor));
    if (y.isReal())
      y.real[i] = nearestSmall(y.desc.dtype, quotient, params.saturate);
    else
      y.integer[i] = wholeIn(y.desc.dtype, quotient, args.hasInput(2) ? widened(args.input(2), s) : 0);
  });
  return Status::ok();
}

Status dequantizeReference(const OracleArgs& args) {
  const auto params = args.params<DequantizeParams>();
  const OracleTensor &x = args.input(0), &scale = args.input(1);
  forEachCoordinates(x.shape(), [&](size_t i, const Coordinates& at) {
    const size_t s = scaleAt(scale.shape(), params.axis, params.block_size, at);
    double value = widened(x, i);
    if (args.hasInput(2) && !x.isReal()) {
      value -= widened(args.input(2), s);
      if (x.desc.dtype == DType::Int32)
        value = static_cast<int32_t>(static_cast<uint32_t>(static_cast<int64_t>(value)));
    }
    args.output().real[i] = nearest(DType::Float32, value) * scale.real[s];
  });
  return Status::ok();
}

}  // namespace opkit::ops::quantize
