// The interface between gemm.cpp (splitting) and gemm_kernel.cpp (one block, per instruction set). Private to gemm.
#pragma once

#include "engine/backend/cpu/gemm/gemm.h"

namespace opkit::cpu::gemm {

/// Depth of a block: a panel of B (k x columns) stays in L1 while the panels of A pass by.
inline constexpr int64_t kDepthBlock = 256;
/// Rows of A that are used for every panel of B in turn; with kDepthBlock they stay in L2.
inline constexpr int64_t kRowBlock = 240;
/// Columns packed by one task at a time; with kDepthBlock they stay in L2.
inline constexpr int64_t kColumnBlock = 240;
/// Columns up to which a product may be thin.
inline constexpr int64_t kFewColumns = 8;
/// Depth from which a sum along it pays for adding its lanes.
inline constexpr int64_t kLeastDotDepth = 32;
/// Sums of a thin product that the first-level cache holds beside the lines that are added to them.
inline constexpr int64_t kSweptFloats = 4096;
/// Writes may run past a packed block by this many floats.
inline constexpr int64_t kPackSlack = 64;

/// A rectangle of C that one thread computes.
struct Block {
  const Problem* problem;
  Dims dims;
  int64_t rowBegin, rowEnd;        // begin is a multiple of the panel's rows
  int64_t columnBegin, columnEnd;  // begin is a multiple of the panel's columns
  float* scratch;                  // depthBlock(k) x columns, for right operands that are not packed
};

/// The depth of all blocks but the last; depends on k alone, so that sums are always split in the same way.
int64_t depthBlock(int64_t k);

/// How a product of few rows or columns is computed without panels, which would cost more than they save.
enum class Thin {
  No,
  RowDots,       // few rows: dot products along the depth
  ColumnDots,    // few columns: the same
  RowSweep,      // one row: rows of B, each times a number, are added to it
  ColumnSweeps,  // few columns: columns of A, which lie side by side in memory, are added to them
};
/// Depends on the whole product and never on a block, so that sums are always split in the same way.
Thin thinOf(const Problem& problem, const Dims& dims);
/// Scratch of a block of any thin product of this size.
int64_t thinFloats(const Dims& dims);

// Dispatched to the best instruction set.
void computeBlock(const Block& block);
void computeThin(const Block& block, Thin way);
void packRightPanels(const Right& right, int64_t depthBegin, int64_t depthEnd, int64_t columnBegin, int64_t columnEnd,
                     float* target);

}  // namespace opkit::cpu::gemm
