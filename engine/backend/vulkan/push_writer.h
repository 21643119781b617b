// PushWriter: packs push constants into the bytes that a shader reads. Generated PushConstants hold integers as
// int64_t, so that a kernel passes extents and strides unchanged. Only this class narrows them, with a check.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "engine/base/status.h"

namespace opkit::vulkan {

class PushWriter {
 public:
  /// `bytes` are zeroed: gaps between members are defined.
  PushWriter(const char* shader, std::span<std::byte> bytes) : shader_(shader), bytes_(bytes) {
    std::ranges::fill(bytes_, std::byte{0});
  }

  template <class Stored, class Value>
  void put(size_t offset, const char* name, const Value& value) {
    if constexpr (std::is_integral_v<Value> && std::is_integral_v<Stored>)
      if (!std::in_range<Stored>(value)) refuse(name, static_cast<int64_t>(value), std::is_signed_v<Stored>);
    const auto stored = static_cast<Stored>(value);
    std::memcpy(bytes_.data() + offset, &stored, sizeof(Stored));
  }
  template <class Stored, class Value, size_t N>
  void put(size_t offset, const char* name, const std::array<Value, N>& values) {
    for (size_t i = 0; i < N; ++i) put<Stored>(offset + i * sizeof(Stored), name, values[i]);
  }

  /// Unsupported for the first value that its type cannot hold.
  const Status& status() const { return status_; }

 private:
  void refuse(const char* name, int64_t value, bool isSigned) {
    if (!status_.isOk()) return;
    status_ = Status::unsupported("{}: push constant '{}' is {}, the shader counts {}", shader_, name, value,
                                  isSigned ? "from -2147483648 to 2147483647" : "from 0 to 4294967295");
  }

  const char* shader_;
  std::span<std::byte> bytes_;
  Status status_;
};

}  // namespace opkit::vulkan
