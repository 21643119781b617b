// Entries for CPU kernels that sort elements (TopK, Unique): unsigned integers in the order of the elements, with the
// position as the last digits, so that no two are equal. Pure functions, thread-safe.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace opkit::ops::top_k {

template <size_t kBytes>
using Bits =
    std::conditional_t<kBytes == 1, uint8_t,
                       std::conditional_t<kBytes == 2, uint16_t, std::conditional_t<kBytes == 4, uint32_t, uint64_t>>>;

/// Unsigned integers in the order of the elements: both zeros are equal, NaN is the largest.
template <class T>
Bits<sizeof(T)> rankOf(T value) {
  using B = Bits<sizeof(T)>;
  constexpr B kSign = B{1} << (8 * sizeof(T) - 1);
  B bits = std::bit_cast<B>(value);
  if constexpr (std::is_integral_v<T>) {
    if constexpr (std::is_signed_v<T>) bits = static_cast<B>(bits ^ kSign);
    return bits;
  } else {
    constexpr int kFraction = sizeof(T) == 2 ? 10 : sizeof(T) == 4 ? 23 : 52;
    constexpr B kInfinity = static_cast<B>((kSign >> kFraction) - 1) << kFraction;
    const B magnitude = static_cast<B>(bits & (kSign - 1));
    bits = magnitude == 0 ? B{0} : bits;
    const B rank = static_cast<B>(bits & kSign ? ~bits : bits | kSign);
    return magnitude > kInfinity ? std::numeric_limits<B>::max() : rank;  // selections: loops become vectors
  }
}

/// Rank and position; the least comes first in the result.
struct Wide {
  uint64_t rank;
  uint64_t position;
  bool operator<(const Wide& other) const {
    return rank < other.rank || (rank == other.rank && position < other.position);
  }
};
template <class T>
using Entry = std::conditional_t<sizeof(T) == 8, Wide, uint64_t>;

template <class T>
Entry<T> entryOf(T value, int64_t position, bool largest) {
  auto rank = rankOf(value);
  if (largest) rank = static_cast<decltype(rank)>(~rank);
  if constexpr (sizeof(T) == 8)
    return {rank, static_cast<uint64_t>(position)};
  else
    return static_cast<uint64_t>(rank) << 32 | static_cast<uint64_t>(position);
}

/// The key and the position that an entry was made of.
inline uint64_t rankIn(uint64_t entry) { return entry >> 32; }
inline uint64_t rankIn(const Wide& entry) { return entry.rank; }
inline int64_t positionOf(uint64_t entry) { return static_cast<int64_t>(entry & 0xFFFFFFFF); }
inline int64_t positionOf(const Wide& entry) { return static_cast<int64_t>(entry.position); }

}  // namespace opkit::ops::top_k
