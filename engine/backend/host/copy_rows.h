// Copies of many equal short rows, for kernels that move boxes of elements: a call of memcpy per row of some elements
// costs more than the copy. Nothing here allocates.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace opkit {

/// Rows of `bytes` bytes that follow each other; rows are `sourceStep` and `targetStep` bytes apart.
struct CopiedRows {
  int64_t count = 1;
  int64_t bytes = 0;
  int64_t sourceStep = 0;
  int64_t targetStep = 0;
};

/// Rows of at least one chunk, in chunks of a size that the compiler knows; the last one may overlap the one before.
template <size_t kChunk>
void copyByChunks(const std::byte* source, std::byte* target, const CopiedRows& rows) {
  const int64_t last = rows.bytes - static_cast<int64_t>(kChunk);
  for (int64_t row = 0; row < rows.count; ++row) {
    for (int64_t i = 0; i < last; i += kChunk) std::memcpy(target + i, source + i, kChunk);
    std::memcpy(target + last, source + last, kChunk);
    source += rows.sourceStep;
    target += rows.targetStep;
  }
}

/// Each row is copied. Source and target do not overlap.
inline void copyRows(const std::byte* source, std::byte* target, const CopiedRows& rows) {
  constexpr int64_t kLong = 512;  // worth a call
  if (rows.bytes > kLong) {
    for (int64_t row = 0; row < rows.count; ++row)
      std::memcpy(target + row * rows.targetStep, source + row * rows.sourceStep, static_cast<size_t>(rows.bytes));
    return;
  }
  if (rows.bytes >= 32) return copyByChunks<32>(source, target, rows);
  if (rows.bytes >= 16) return copyByChunks<16>(source, target, rows);
  if (rows.bytes >= 8) return copyByChunks<8>(source, target, rows);
  if (rows.bytes >= 4) return copyByChunks<4>(source, target, rows);
  if (rows.bytes >= 2) return copyByChunks<2>(source, target, rows);
  if (rows.bytes == 1) copyByChunks<1>(source, target, rows);
}

/// Each row of `count` elements is filled with the element at its source; steps count elements.
template <class T>
void repeatRows(const T* source, int64_t sourceStep, T* target, int64_t targetStep, int64_t rows, int64_t count) {
  constexpr int64_t kChunk = 32 / sizeof(T);
  for (int64_t row = 0; row < rows; ++row, source += sourceStep, target += targetStep) {
    const T value = *source;
    if (count < kChunk) {
      for (int64_t i = 0; i < count; ++i) target[i] = value;
      continue;
    }
    std::array<T, kChunk> chunk;
    chunk.fill(value);
    for (int64_t i = 0; i < count - kChunk; i += kChunk) std::memcpy(target + i, chunk.data(), sizeof chunk);
    std::memcpy(target + count - kChunk, chunk.data(), sizeof chunk);
  }
}

/// The block at the target is repeated until it is there `count` times.
inline void repeatBlock(std::byte* target, int64_t bytes, int64_t count) {
  constexpr int64_t kCached = 16384;  // what is read again stays in the first cache
  const int64_t total = bytes * count, most = std::max<int64_t>(kCached / bytes, 1) * bytes;
  for (int64_t done = bytes; done < total;) {
    const int64_t more = std::min({done, total - done, most});
    std::memcpy(target + done, target, static_cast<size_t>(more));
    done += more;
  }
}

}  // namespace opkit
