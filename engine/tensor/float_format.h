// FloatFormat: the bits of each floating dtype as data, and conversions between double and the codes of the small ones,
// integers of 4 and 2 bits among them.
//
// Use readCoded() and writeCoded() where code must serve every dtype and is not a kernel: they are exact, and slow.
// Sources: IEEE 754; "FP8 Formats for Deep Learning" (arXiv:2209.05433) for FN; ONNX, "Float stored in 8 bits" for
// FNUZ; the OCP Microscaling specification for E8M0.
#pragma once

#include <cstdint>

#include "engine/tensor/tensor.h"

namespace opkit {

struct FloatFormat {
  enum class Specials : uint8_t {
    Ieee,    // the largest exponent holds infinity and NaNs
    Fn,      // no infinity; NaN is the code of ones only, of either sign
    Fnuz,    // no infinity, no -0; NaN is the code that would be -0
    Finite,  // neither infinity nor NaN: what is too large saturates, NaN becomes -0
    Scale    // no sign, no zero, no fraction: powers of two; NaN is the code of ones
  };
  DType dtype;
  int exponentBits, fractionBits, bias;
  Specials specials;

  /// Bits without the sign.
  constexpr int magnitudeBits() const { return exponentBits + fractionBits; }
  /// The code of the sign; 0 in a format without one.
  constexpr uint32_t signCode() const { return specials == Specials::Scale ? 0 : 1u << magnitudeBits(); }
  /// The code of the largest finite number. REQUIRES at most 16 bits.
  constexpr uint32_t largestCode() const {
    const uint32_t ones = (1u << magnitudeBits()) - 1;
    if (specials == Specials::Ieee) return ones - (1u << fractionBits);
    return specials == Specials::Fnuz || specials == Specials::Finite ? ones : ones - 1;
  }
  /// A quiet NaN without a sign, or the code that NaN becomes.
  constexpr uint32_t nanCode() const {
    if (specials == Specials::Fnuz || specials == Specials::Finite) return signCode();
    return specials == Specials::Ieee ? largestCode() + 1 + (1u << (fractionBits - 1)) : largestCode() + 1;
  }
  /// The exponent of the last bit of the smallest numbers, and of the first bit of the largest.
  constexpr int leastExponent() const { return specials == Specials::Scale ? -bias : 1 - bias - fractionBits; }
  constexpr int greatestExponent() const {
    return (1 << exponentBits) - (specials == Specials::Ieee || specials == Specials::Scale ? 2 : 1) - bias;
  }
};

/// REQUIRES isFloat(dtype).
const FloatFormat& formatOf(DType dtype);

/// The number that a code stands for: exact. REQUIRES isCodedFloat(format.dtype).
double decode(const FloatFormat& format, uint32_t code);
/// The code nearest to `value`, ties to the even code (E8M0: up). What rounds beyond the largest number becomes
/// infinity, or NaN in a format without it; so do zero, negative and too small numbers in E8M0. NaN keeps its sign if
/// it can.
uint32_t encode(const FloatFormat& format, double value);

/// Element i of a host tensor. REQUIRES isCoded(its dtype). Integers take the low bits of the value without its
/// fraction.
double readCoded(const Tensor& tensor, size_t i);
void writeCoded(const Tensor& tensor, size_t i, double value);
/// The bits of element i, in the lowest bits of the result.
uint32_t readCode(const Tensor& tensor, size_t i);
void writeCode(const Tensor& tensor, size_t i, uint32_t code);

}  // namespace opkit
