// The interface between byte_gemm.cpp (splitting) and byte_gemm_kernel.cpp (one block, per instruction set). Private to
// gemm.
#pragma once

#include "engine/backend/cpu/gemm/byte_gemm.h"

namespace opkit::cpu::bytes {

/// What multiplies bytes, in ascending order: products of 16 bits; vpdpbusd (AVX-512 VNNI); tdpbsud (AMX), which only
/// Linux is asked for.
enum class Instructions { Widened, Vnni, Tiles };
/// The best that may be used; for tests. Panels packed with one setting do not fit another.
Instructions best();
void setBest(Instructions instructions);
/// Whether the processor has AMX and the system lets this process use its registers.
bool permitsTiles();

/// Bytes of one panel, with the sums of its lines: a multiple of 64.
int64_t leftPanelBytes(int64_t k);
int64_t rightPanelBytes(int64_t k);

/// Packs the panel of rows [row, row + panel's) of A[m, k]; of columns [column, column + panel's) of B[k, n]. The sums
/// of columns are read only by products that have left zero points other than 0.
void packLeftPanel(const Left& left, int64_t m, int64_t k, int64_t row, uint8_t* target);
void packRightPanel(const Right& right, int64_t k, int64_t n, int64_t column, bool withSums, uint8_t* target);

/// A rectangle of C that one thread computes. Both begins are multiples of the panel's.
struct Block {
  const Problem* problem;
  int64_t k;
  int64_t rowBegin, rowEnd;
  int64_t columnBegin, columnEnd;
  const uint8_t* right;  // the panel of columnBegin
};
void computeBlock(const Block& block);

}  // namespace opkit::cpu::bytes
