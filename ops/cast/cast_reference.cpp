#include <algorithm>
#include <cmath>

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
  if (sizeOf(dtype) == 8) return value;
  const int bits = static_cast<int>(sizeOf(dtype)) * 8;
  const auto kept = static_cast<int64_t>(static_cast<uint64_t>(value) & ((uint64_t{1} << bits) - 1));
  const bool isSigned = dtype == DType::Int8 || dtype == DType::Int16 || dtype == DType::Int32;
  return isSigned && (kept >> (bits - 1)) != 0 ? kept - (int64_t{1} << bits) : kept;
}

/// Towards zero into 64 bits; NaN is 0, and what lies beyond becomes the nearest limit. Those of uint64 as their bits.
int64_t wholeBits(double value, DType to) {
  if (std::isnan(value)) return 0;
  const double beyond = to == DType::UInt64 ? 0x1p64 : 0x1p63;
  const auto whole = static_cast<__int128>(std::min(std::max(value, -0x1p63), beyond));
  return static_cast<int64_t>(std::min(whole, static_cast<__int128>(beyond) - 1));
}

}  // namespace

Status reference(const OracleArgs& args) {
  const OracleTensor& x = args.input(0);
  OracleTensor& y = args.output();
  const DType to = y.desc.dtype;
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
