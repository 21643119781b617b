// Product of a matrix of 8-bit integers with one column: rows are read where they lie, since packing them, as
// byte_gemm.h does, costs more than the product. Exact modulo 2^32, for any order of the sums. Pure functions,
// thread-safe.
#pragma once

#include "engine/backend/cpu/gemm/byte_gemm.h"

namespace opkit::cpu::bytes {

/// Elements of a column of k in the form that multiplyColumn takes.
int64_t widenedElements(int64_t k);
/// column = data less the zero point of B as packed, and zeros behind.
void widenColumn(const uint8_t* data, bool isSigned, int32_t zeroPoint, int64_t k, int16_t* column);

struct ColumnProblem {
  Left left;  // rows lie side by side
  int64_t rows = 0, k = 0;
  const int16_t* column = nullptr;
  PerLine<int32_t> leftZeroPoint;  // of A as packed by packLeft
  int32_t* c = nullptr;            // the sums, or
  uint8_t* y = nullptr;            // the results of `requantization`, whose right scale is one
  Requantization requantization;
};
/// Computes rows [begin, end).
void multiplyColumn(const ColumnProblem& problem, int64_t begin, int64_t end);

}  // namespace opkit::cpu::bytes
