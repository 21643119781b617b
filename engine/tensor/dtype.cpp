#include "engine/tensor/dtype.h"

#include <array>

#include "engine/base/check.h"

namespace opkit {
namespace {

struct Row {
  DType dtype;
  const char* name;
  int bits;
};

constexpr std::array<Row, 26> kRows{{{DType::Float32, "f32", 32},
                                     {DType::Float16, "f16", 16},
                                     {DType::Float64, "f64", 64},
                                     {DType::Int8, "i8", 8},
                                     {DType::UInt8, "u8", 8},
                                     {DType::Int16, "i16", 16},
                                     {DType::UInt16, "u16", 16},
                                     {DType::Int32, "i32", 32},
                                     {DType::UInt32, "u32", 32},
                                     {DType::Int64, "i64", 64},
                                     {DType::UInt64, "u64", 64},
                                     {DType::Bool, "bool", 8},
                                     {DType::BFloat16, "bf16", 16},
                                     {DType::Float8E4M3FN, "f8e4m3fn", 8},
                                     {DType::Float8E4M3FNUZ, "f8e4m3fnuz", 8},
                                     {DType::Float8E5M2, "f8e5m2", 8},
                                     {DType::Float8E5M2FNUZ, "f8e5m2fnuz", 8},
                                     {DType::Float8E8M0, "f8e8m0", 8},
                                     {DType::Float4E2M1, "f4e2m1", 4},
                                     {DType::Int4, "i4", 4},
                                     {DType::UInt4, "u4", 4},
                                     {DType::Int2, "i2", 2},
                                     {DType::UInt2, "u2", 2},
                                     {DType::String, "string", 0},
                                     {DType::Sequence, "sequence", 0},
                                     {DType::Optional, "optional", 0}}};

const Row& rowOf(DType dtype) {
  OPKIT_CHECK(isValidDType(static_cast<int>(dtype)));
  return kRows[static_cast<size_t>(dtype) - 1];
}

}  // namespace

size_t sizeOf(DType dtype) {
  OPKIT_CHECK(!isPacked(dtype));
  return static_cast<size_t>(bitsOf(dtype)) / 8;
}

int bitsOf(DType dtype) { return rowOf(dtype).bits; }

size_t bytesOf(DType dtype, int64_t elements) {
  const auto bits = static_cast<size_t>(bitsOf(dtype)), count = static_cast<size_t>(elements);
  return bits >= 8 || bits == 0 ? count * (bits / 8) : (count + 8 / bits - 1) / (8 / bits);
}

const char* nameOf(DType dtype) { return rowOf(dtype).name; }

std::optional<DType> dtypeFromName(std::string_view name) {
  for (const Row& row : kRows)
    if (row.name == name) return row.dtype;
  return std::nullopt;
}

bool isValidDType(int value) { return value >= 1 && value <= static_cast<int>(kRows.size()); }

std::string DTypeSet::toString() const {
  std::string text;
  for (const Row& row : kRows) {
    if (!contains(row.dtype)) continue;
    if (!text.empty()) text += ", ";
    text += row.name;
  }
  return text;
}

}  // namespace opkit
