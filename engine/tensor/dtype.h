// DType: the element types OpKit tensors may have, their sizes and their short names (f32, i64, bool ...).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace opkit {

// The values are stored in .opk files; never renumber.
enum class DType : uint8_t {
  Float32 = 1,
  Float16 = 2,
  Float64 = 3,
  Int8 = 4,
  UInt8 = 5,
  Int16 = 6,
  UInt16 = 7,
  Int32 = 8,
  UInt32 = 9,
  Int64 = 10,
  UInt64 = 11,
  Bool = 12,  // one byte, 0 or 1
  BFloat16 = 13,
  Float8E4M3FN = 14,
  Float8E4M3FNUZ = 15,
  Float8E5M2 = 16,
  Float8E5M2FNUZ = 17,
  Float8E8M0 = 18,
  Float4E2M1 = 19,  // from here on several elements share a byte, the first in its lowest bits
  Int4 = 20,
  UInt4 = 21,
  Int2 = 22,
  UInt2 = 23,
  String = 24,  // from here on objects of the host (objects.h), which no kernel reads
  Sequence = 25,
  Optional = 26,
};

/// Bytes per element. REQUIRES !isPacked(dtype).
size_t sizeOf(DType dtype);
/// 64, 32, 16, 8, 4 or 2; 0 of objects.
int bitsOf(DType dtype);
/// Bytes of so many elements in a row, the last byte filled up.
size_t bytesOf(DType dtype, int64_t elements);
/// "f32", "f16", "f64", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "bool", "bf16", "f8e4m3fn",
/// "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz", "f8e8m0", "f4e2m1", "i4", "u4", "i2", "u2", "string",
/// "sequence", "optional".
const char* nameOf(DType dtype);
/// The inverse of nameOf; nothing for an unknown name.
std::optional<DType> dtypeFromName(std::string_view name);
/// Whether the number is a valid DType (files hold numbers).
bool isValidDType(int value);

/// Whether several elements share a byte.
constexpr bool isPacked(DType dtype) { return dtype >= DType::Float4E2M1 && dtype <= DType::UInt2; }
/// Whether the elements are objects of the host, which have no bytes.
constexpr bool isObject(DType dtype) { return dtype >= DType::String; }
/// Elements that are stored as codes (codes.h): no C++ type holds them, so visitDType() does not take them.
constexpr bool isCoded(DType dtype) { return dtype >= DType::BFloat16 && dtype <= DType::UInt2; }
constexpr bool isCodedFloat(DType dtype) { return isCoded(dtype) && dtype <= DType::Float4E2M1; }

constexpr bool isFloat(DType dtype) {
  return dtype == DType::Float32 || dtype == DType::Float16 || dtype == DType::Float64 || isCodedFloat(dtype);
}

/// A set of DTypes, as an operator's card declares them.
class DTypeSet {
 public:
  constexpr DTypeSet() = default;
  template <class... Types>
  constexpr explicit DTypeSet(Types... types) : bits_(((1u << static_cast<unsigned>(types)) | ... | 0u)) {}
  constexpr bool contains(DType dtype) const { return (bits_ >> static_cast<unsigned>(dtype)) & 1u; }
  constexpr DTypeSet operator|(DTypeSet other) const {
    DTypeSet both;
    both.bits_ = bits_ | other.bits_;
    return both;
  }
  constexpr bool operator==(const DTypeSet&) const = default;
  constexpr bool intersects(DTypeSet other) const { return (bits_ & other.bits_) != 0; }
  /// "f32, f16"
  std::string toString() const;

 private:
  uint32_t bits_ = 0;
};

inline constexpr DTypeSet kFloats{DType::Float32, DType::Float16, DType::Float64};
inline constexpr DTypeSet kIntegers{DType::Int8,  DType::UInt8,  DType::Int16, DType::UInt16,
                                    DType::Int32, DType::UInt32, DType::Int64, DType::UInt64};
inline constexpr DTypeSet kIndexTypes{DType::Int32, DType::Int64};
inline constexpr DTypeSet kBool{DType::Bool};
inline constexpr DTypeSet kNumbers = kFloats | kIntegers;
inline constexpr DTypeSet kAnyDType = kNumbers | kBool;
inline constexpr DTypeSet kCodedFloats{DType::BFloat16,   DType::Float8E4M3FN,   DType::Float8E4M3FNUZ,
                                       DType::Float8E5M2, DType::Float8E5M2FNUZ, DType::Float8E8M0};
/// Of operators that only move elements: any width of whole bytes will do.
inline constexpr DTypeSet kMovedDTypes = kAnyDType | kCodedFloats;
inline constexpr DTypeSet kPackedDTypes{DType::Float4E2M1, DType::Int4, DType::UInt4, DType::Int2, DType::UInt2};
/// Of operators that leave all elements where they are.
inline constexpr DTypeSet kEveryDType = kMovedDTypes | kPackedDTypes;
inline constexpr DTypeSet kObjects{DType::String, DType::Sequence, DType::Optional};

}  // namespace opkit
