// Maximum pooling of a plane of bytes, per instruction set: the rows of a window are joined into one padded row, then
// its columns into the outputs. Pure functions, thread-safe.
#pragma once

#include <cstdint>

#include "ops/pool/pool_rows.h"

namespace opkit::ops::pool {

/// The rows that one row of outputs reads; none is a row of the least value.
struct JoinedRows {
  int64_t first;  // of the plane
  int64_t taps;
};

struct BytePlane {
  const JoinedRows* rows;  // per row of outputs
  int64_t rowCount;
  int64_t width;     // bytes of a row of the plane
  int64_t distance;  // in bytes, between rows of a window
  int64_t padding;   // columns before the first of the plane
  int64_t valid;     // columns of the plane that some window reads
  RowWindows windows;
};
/// Bytes after the last one of a window that may be read (not used).
inline constexpr int64_t kByteSlack = 192;

/// `row` is working memory for the padding, a row and kByteSlack bytes. Its padding holds the least value of the type.
void largestOfPlane(const int8_t* x, const BytePlane& plane, int8_t* row, int8_t* y);
void largestOfPlane(const uint8_t* x, const BytePlane& plane, uint8_t* row, uint8_t* y);

}  // namespace opkit::ops::pool
