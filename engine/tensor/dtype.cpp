#include "engine/tensor/dtype.h"

#include <array>

#include "engine/base/check.h"

namespace opkit {
namespace {

struct Row {
  DType dtype;
  const char* name;
  size_t sizeBytes;
};

constexpr std::array<Row, 18> kRows{{{DType::Float32, "f32", 4},
                                     {DType::Float16, "f16", 2},
                                     {DType::Float64, "f64", 8},
                                     {DType::Int8, "i8", 1},
                                     {DType::UInt8, "u8", 1},
                                     {DType::Int16, "i16", 2},
                                     {DType::UInt16, "u16", 2},
                                     {DType::Int32, "i32", 4},
                                     {DType::UInt32, "u32", 4},
                                     {DType::Int64, "i64", 8},
                                     {DType::UInt64, "u64", 8},
                                     {DType::Bool, "bool", 1},
                                     {DType::BFloat16, "bf16", 2},
                                     {DType::Float8E4M3FN, "f8e4m3fn", 1},
                                     {DType::Float8E4M3FNUZ, "f8e4m3fnuz", 1},
                                     {DType::Float8E5M2, "f8e5m2", 1},
                                     {DType::Float8E5M2FNUZ, "f8e5m2fnuz", 1},
                                     {DType::Float8E8M0, "f8e8m0", 1}}};

const Row& rowOf(DType dtype) {
  OPKIT_CHECK(isValidDType(static_cast<int>(dtype)));
  return kRows[static_cast<size_t>(dtype) - 1];
}

}  // namespace

size_t sizeOf(DType dtype) { return rowOf(dtype).sizeBytes; }

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
