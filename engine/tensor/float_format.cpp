#include "engine/tensor/float_format.h"

#include <array>
#include <cmath>
#include <limits>

namespace opkit {
namespace {

using Specials = FloatFormat::Specials;

constexpr std::array<FloatFormat, 10> kFormats{{{DType::Float64, 11, 52, 1023, Specials::Ieee},
                                                {DType::Float32, 8, 23, 127, Specials::Ieee},
                                                {DType::Float16, 5, 10, 15, Specials::Ieee},
                                                {DType::BFloat16, 8, 7, 127, Specials::Ieee},
                                                {DType::Float8E4M3FN, 4, 3, 7, Specials::Fn},
                                                {DType::Float8E4M3FNUZ, 4, 3, 8, Specials::Fnuz},
                                                {DType::Float8E5M2, 5, 2, 15, Specials::Ieee},
                                                {DType::Float8E5M2FNUZ, 5, 2, 16, Specials::Fnuz},
                                                {DType::Float8E8M0, 8, 0, 127, Specials::Scale},
                                                {DType::Float4E2M1, 2, 1, 1, Specials::Finite}}};

uint32_t encodeScale(const FloatFormat& format, double value) {
  const double least = std::ldexp(1.0, -format.bias);
  if (!(value >= least) || std::isinf(value)) return format.nanCode();
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);  // in [0.5, 1)
  const int code = exponent - 1 + format.bias + (mantissa >= 0.75 ? 1 : 0);
  return code > static_cast<int>(format.largestCode()) ? format.nanCode() : static_cast<uint32_t>(code);
}

/// The code of a positive finite number; beyond largestCode() if it rounds past the largest.
int64_t encodeMagnitude(const FloatFormat& format, double magnitude) {
  int exponent = 0;
  std::frexp(magnitude, &exponent);  // magnitude = m * 2^exponent, m in [0.5, 1)
  const int least = format.leastExponent();
  const int quantum = std::max(exponent - 1 - format.fractionBits, least);  // exponent of the last kept bit
  const auto units = static_cast<int64_t>(std::nearbyint(std::ldexp(magnitude, -quantum)));
  return (static_cast<int64_t>(quantum - least) << format.fractionBits) + units;
}

}  // namespace

const FloatFormat& formatOf(DType dtype) {
  for (const FloatFormat& format : kFormats)
    if (format.dtype == dtype) return format;
  OPKIT_CHECK(!"a floating dtype has a format");
  return kFormats[0];
}

double decode(const FloatFormat& format, uint32_t code) {
  const bool negative = (code & format.signCode()) != 0;
  const uint32_t magnitude = code & ((1u << format.magnitudeBits()) - 1);
  const double nan = std::copysign(std::numeric_limits<double>::quiet_NaN(), negative ? -1.0 : 1.0);
  if (format.specials == Specials::Scale)
    return code > format.largestCode() ? nan : std::ldexp(1.0, static_cast<int>(code) - format.bias);
  if (format.specials == Specials::Fnuz && code == format.signCode()) return std::fabs(nan);
  if (magnitude > format.largestCode()) {
    const bool infinite = format.specials == Specials::Ieee && magnitude == format.largestCode() + 1;
    return infinite ? std::copysign(std::numeric_limits<double>::infinity(), nan) : nan;
  }
  const uint32_t hidden = 1u << format.fractionBits;
  const auto field = static_cast<int>(magnitude >> format.fractionBits);
  const uint32_t units = (magnitude & (hidden - 1)) + (field == 0 ? 0 : hidden);
  return std::copysign(std::ldexp(units, std::max(field - 1, 0) + format.leastExponent()), nan);
}

uint32_t encode(const FloatFormat& format, double value) {
  if (format.specials == Specials::Scale) return encodeScale(format, value);
  const bool isFnuz = format.specials == Specials::Fnuz;
  const uint32_t sign = std::signbit(value) ? format.signCode() : 0;
  if (std::isnan(value)) return format.nanCode() | sign;
  const double magnitude = std::fabs(value);
  const int64_t beyond = int64_t{format.largestCode()} + 1;
  const int64_t code = std::isinf(value) ? beyond
                       : magnitude == 0  ? 0
                                         : std::min(encodeMagnitude(format, magnitude), beyond);
  if (code == beyond && format.specials == Specials::Finite) return format.largestCode() | sign;
  if (code == beyond) return isFnuz ? format.nanCode() : static_cast<uint32_t>(beyond) | sign;
  return isFnuz && code == 0 ? 0 : static_cast<uint32_t>(code) | sign;
}

uint32_t readCode(const Tensor& tensor, size_t i) {
  const auto bits = static_cast<size_t>(bitsOf(tensor.desc.dtype));
  if (bits == 16) return tensor.data<uint16_t>()[i];
  const auto byte = static_cast<uint32_t>(tensor.bytes()[i * bits / 8]);
  return byte >> (i * bits % 8) & ((1u << bits) - 1);
}

void writeCode(const Tensor& tensor, size_t i, uint32_t code) {
  const auto bits = static_cast<size_t>(bitsOf(tensor.desc.dtype));
  if (bits == 16) {
    tensor.data<uint16_t>()[i] = static_cast<uint16_t>(code);
    return;
  }
  std::byte& byte = tensor.bytes()[i * bits / 8];
  const size_t shift = i * bits % 8;
  const uint32_t mask = ((1u << bits) - 1) << shift;
  byte = static_cast<std::byte>((static_cast<uint32_t>(byte) & ~mask) | (code << shift & mask));
}

double readCoded(const Tensor& tensor, size_t i) {
  const DType dtype = tensor.desc.dtype;
  const uint32_t code = readCode(tensor, i);
  if (isCodedFloat(dtype)) return decode(formatOf(dtype), code);
  const bool isSigned = dtype == DType::Int4 || dtype == DType::Int2;
  const int32_t values = 1 << bitsOf(dtype), value = static_cast<int32_t>(code);
  return isSigned && value >= values / 2 ? value - values : value;
}

void writeCoded(const Tensor& tensor, size_t i, double value) {
  const DType dtype = tensor.desc.dtype;
  writeCode(tensor, i,
            isCodedFloat(dtype) ? encode(formatOf(dtype), value) : static_cast<uint32_t>(static_cast<int64_t>(value)));
}

}  // namespace opkit
