// The loops of MatMulNBits on the CPU, compiled once per instruction set. Codes are widened in registers, so a byte of
// weights crosses memory once for several rows of a. Pure functions, thread-safe.
#pragma once

#include <cstdint>

namespace opkit::ops::matmul_nbits {

/// Weights as bytes: row n of codes begins at codes[n * blocks * blockBytes], its codes in the order of the depth, the
/// first in the lowest bits. Scales and zero points are [columns, blocks]; zero points are codes in bytes without gaps,
/// and the middle of the range if null.
struct Weights {
  const uint8_t* codes = nullptr;
  const float* scales = nullptr;
  const uint8_t* zeroPoints = nullptr;
  int64_t blocks = 0;
  int64_t blockBytes = 0;
  int bits = 4;
};

/// Rows of a that productRows takes at once.
int64_t mostRows();

/// The form of a row of a that productRows reads: bytes of codes hold several neighbours of the depth, so the elements
/// for the first codes of a vector of bytes come first, then those for the second ones. `to` has blocks * blockBytes *
/// 8 / bits floats; those behind the depth become 0.
void arrange(const float* a, int64_t depth, const Weights& weights, float* to);

/// y[m * stride + n] = the sum of row m of a, arranged, with row n of the weights, plus bias[n] unless null; for `rows`
/// rows, at most mostRows(), and n in [begin, end). The bits of a sum do not depend on the number of rows.
void productRows(const Weights& weights, const float* a, int64_t rows, const float* bias, int64_t begin, int64_t end,
                 float* y, int64_t stride);

/// Rows [begin, end) of the weights as floats, each in the order of `arrange`.
void widenRows(const Weights& weights, int64_t begin, int64_t end, float* to);

}  // namespace opkit::ops::matmul_nbits
