#include <algorithm>
#include <cmath>

#include "engine/tensor/float_format.h"
#include "ops/cast/cast_parts.h"

namespace opkit::ops::cast {
namespace {

/// The integer as a double that rounds to a narrower float as the integer itself does: bits that a double does not hold
/// set its last bit ("round to odd"), so that a value just beside a tie does not become the tie.
double toNarrow(int64_t value, DType dtype) {
  const bool negative = dtype != DType::UInt64 && value < 0;
  uint64_t magnitude = negative ? ~static_cast<uint64_t>(value) + 1 : static_cast<uint64_t>(value);
  constexpr uint64_t kRest = (uint64_t{1} << 11) - 1;
  if (magnitude >> 53 != 0) magnitude = (magnitude & ~kRest) | (magnitude & kRest ? kRest + 1 : 0);
  return negative ? -static_cast<double>(magnitude) : static_cast<double>(magnitude);
}

double widen(int64_t value, DType from, DType to) {
  if (to != DType::Float64) return toNarrow(value, from);
  return from == DType::UInt64 ? static_cast<double>(static_cast<uint64_t>(value)) : static_cast<double>(value);
}

/// An integer after storing it as `dtype`.
int64_t wrap(int64_t value, DType dtype) {
  if (dtype == DType::Bool) return value != 0;
  const int bits = bitsOf(dtype);
  if (bits == 64) return value;
  const auto kept = static_cast<int64_t>(static_cast<uint64_t>(value) & ((uint64_t{1} << bits) - 1));
  constexpr DTypeSet kSigned{DType::Int2, DType::Int4, DType::Int8, DType::Int16, DType::Int32};
  const bool isSigned = kSigned.contains(dtype);
  return isSigned && (kept >> (bits - 1)) != 0 ? kept - (int64_t{1} << bits) : kept;
}

/// Towards zero into 64 bits; NaN is 0, and what lies beyond becomes the nearest limit. Those of uint64 as their bits.
int64_t wholeBits(double value, DType to) {
  if (std::isnan(value)) return 0;
  const double beyond = to == DType::UInt64 ? 0x1p64 : 0x1p63;
  const auto whole = static_cast<__int128>(std::min(std::max(value, -0x1p63), beyond));
  return static_cast<int64_t>(std::min(whole, static_cast<__int128>(beyond) - 1));
}

/// All finite numbers of a coded format that are not negative, in ascending order.
class NumbersOf {
 public:
  explicit NumbersOf(const FloatFormat& format) : format_(format) {
    for (uint32_t code = 0; code <= format.largestCode(); ++code) numbers_.push_back(decode(format, code));
  }

  /// ONNX's tables of Cast: the nearest number, ties to the even place; bf16 never saturates, f4e2m1 always does.
  double round(double value, bool saturate) const {
    const bool isFinite = format_.specials == FloatFormat::Specials::Finite;
    if (std::isnan(value)) return isFinite ? -0.0 : value;
    const double magnitude = std::fabs(value), largest = numbers_.back();
    const auto above = std::lower_bound(numbers_.begin(), numbers_.end(), magnitude);
    const auto place = static_cast<size_t>(above - numbers_.begin());
    const double before = place == 0 ? 0 : numbers_[place - 1];
    const bool isBeyond = above == numbers_.end();
    const double next = isBeyond ? largest + (largest - numbers_[numbers_.size() - 2]) : *above;
    const double middle = before + (next - before) / 2;
    const bool isUp = magnitude > middle || (magnitude == middle && place % 2 == 0);
    const double infinity = std::numeric_limits<double>::infinity();
    double result = isUp ? next : before;
    if (isBeyond && isUp) {
      const bool isIeee = format_.specials == FloatFormat::Specials::Ieee;
      result = isFinite || (saturate && format_.dtype != DType::BFloat16) ? largest : isIeee ? infinity : std::nan("");
    }
    return std::copysign(result, value);
  }

  /// ONNX's table of FLOAT8E8M0. It leaves negative numbers open: NaN here.
  double roundScale(double value, bool saturate, RoundMode mode) const {
    if (std::isnan(value) || value < 0) return std::nan("");
    if (value > numbers_.back()) return saturate ? numbers_.back() : std::nan("");
    if (value < numbers_.front()) return saturate ? numbers_.front() : std::nan("");
    const double above = *std::lower_bound(numbers_.begin(), numbers_.end(), value);
    if (above == value || mode == RoundMode::up) return above;
    return mode == RoundMode::nearest && value >= 0.75 * above ? above : above / 2;
  }

 private:
  const FloatFormat& format_;
  std::vector<double> numbers_;
};

void castToCoded(const OracleTensor& x, OracleTensor& y, const CastParamsT& params) {
  const NumbersOf numbers(formatOf(y.desc.dtype));
  for (size_t i = 0; i < y.real.size(); ++i) {
    const double value = x.isReal() ? x.real[i] : widen(x.integer[i], x.desc.dtype, y.desc.dtype);
    y.real[i] = y.desc.dtype == DType::Float8E8M0 ? numbers.roundScale(value, params.saturate, params.round_mode)
                                                  : numbers.round(value, params.saturate);
  }
}

}  // namespace

Status reference(const OracleArgs& args) {
  const OracleTensor& x = args.input(0);
  OracleTensor& y = args.output();
  const DType to = y.desc.dtype;
  if (isCodedFloat(to)) {
    castToCoded(x, y, args.params<CastParams>());
    return Status::ok();
  }
  const auto count = static_cast<size_t>(x.elements());
  for (size_t i = 0; i < count; ++i) {
    if (y.isReal())
      y.real[i] = x.isReal() ? x.real[i] : widen(x.integer[i], x.desc.dtype, to);
    else if (!x.isReal())
      y.integer[i] = wrap(x.integer[i], to);
    else if (to == DType::Bool)
      y.integer[i] = x.real[i] != 0;
    else
      y.integer[i] = wrap(wholeBits(x.real[i], to), to);
  }
  return Status::ok();
}

}  // namespace opkit::ops::cast
