#include <array>
#include <cstring>

#include "engine/tensor/half.h"
#include "ops/bits/bits.h"

namespace opkit::ops::bits {
namespace {

/// The stored bytes of element `i`, the lowest first.
std::array<uint8_t, 8> bytesOf(const OracleTensor& x, size_t i) {
  std::array<uint8_t, 8> bytes{};
  const auto put = [&](const auto& value) { std::memcpy(bytes.data(), &value, sizeof(value)); };
  switch (x.desc.dtype) {
    case DType::Float64: put(x.real[i]); break;
    case DType::Float32: put(static_cast<float>(x.real[i])); break;
    case DType::Float16: put(toHalf(x.real[i]).bits); break;
    default: put(x.integer[i]); break;
  }
  return bytes;
}

/// The element that such bytes store, as an oracle holds it.
template <class T>
T valueOf(const std::array<uint8_t, 8>& bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}
double realOf(const std::array<uint8_t, 8>& bytes, DType dtype) {
  if (dtype == DType::Float64) return valueOf<double>(bytes);
  return dtype == DType::Float32 ? valueOf<float>(bytes) : toFloat(valueOf<Half>(bytes));
}
int64_t integerOf(const std::array<uint8_t, 8>& bytes, DType dtype) {
  switch (dtype) {
    case DType::Int8: return valueOf<int8_t>(bytes);
    case DType::UInt8: return valueOf<uint8_t>(bytes);
    case DType::Int16: return valueOf<int16_t>(bytes);
    case DType::UInt16: return valueOf<uint16_t>(bytes);
    case DType::Int32: return valueOf<int32_t>(bytes);
    case DType::UInt32: return valueOf<uint32_t>(bytes);
    default: return valueOf<int64_t>(bytes);
  }
}

}  // namespace

/// -1 - x has all bits of x turned; x has been widened, so an unsigned result is taken modulo its range.
Status bitwiseNot(const OracleArgs& args) {
  const DType dtype = args.input(0).desc.dtype;
  const bool isUnsigned = dtype == DType::UInt8 || dtype == DType::UInt16 || dtype == DType::UInt32;
  const int64_t range = isUnsigned ? int64_t{1} << (8 * sizeOf(dtype)) : 0;
  for (size_t i = 0; i < args.input(0).integer.size(); ++i)
    args.output().integer[i] = range - 1 - args.input(0).integer[i];
  return Status::ok();
}

Status bitCast(const OracleArgs& args) {
  OracleTensor& y = args.output();
  const DType to = y.desc.dtype;
  for (size_t i = 0; i < static_cast<size_t>(y.elements()); ++i) {
    const std::array<uint8_t, 8> bytes = bytesOf(args.input(0), i);
    if (y.isReal())
      y.real[i] = realOf(bytes, to);
    else
      y.integer[i] = integerOf(bytes, to);
  }
  return Status::ok();
}

}  // namespace opkit::ops::bits
