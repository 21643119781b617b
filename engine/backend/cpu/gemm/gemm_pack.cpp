// The packing of B into panels, compiled once per instruction set.
#include "engine/backend/cpu/gemm/gemm_kernel.h"

#include <algorithm>

#include "engine/backend/cpu/vector_ops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/backend/cpu/gemm/gemm_pack.cpp"
#include "engine/backend/cpu/foreach_target.h"

#include "engine/backend/cpu/gemm/gemm_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::cpu::gemm {
namespace HWY_NAMESPACE {

/// Copies a run of `count` floats; with slack, whole vectors (the surplus is overwritten by what follows).
HWY_INLINE void copyRun(const float* HWY_RESTRICT from, float* HWY_RESTRICT to, int64_t count, bool slack) {
  const D d;
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) hn::StoreU(hn::LoadU(d, from + i), d, to + i);
  if (slack && i < count) {
    hn::StoreU(hn::LoadU(d, from + i), d, to + i);
    return;
  }
  for (; i < count; ++i) to[i] = from[i];
}

/// A part of a panel's columns whose elements lie side by side in the source.
struct Segment {
  int64_t source;  // offset from data + depthOffsets[p]
  int64_t column;  // in the panel
  int64_t count;
};

/// Panel rows of a gathered operand. Rows are written in ascending order, so a run may spill over its end.
void packGathered(const Right& right, int64_t depthBegin, int64_t depthEnd, int64_t column, int64_t columns,
                  float* target) {
  Segment segments[kTileColumns];
  int count = 0;
  for (int64_t done = 0; done < columns;) {
    const int64_t j = column + done;
    const int64_t inRun = j % right.runLength;
    const int64_t length = std::min(right.runLength - inRun, columns - done);
    segments[count++] = {j / right.runLength * right.runStride + inRun, done, length};
    done += length;
  }
  const D d;
  if (count == 1 && columns == kTileColumns) {
    for (int64_t p = depthBegin; p < depthEnd; ++p, target += kTileColumns) {
      const float* from = right.data + right.depthOffsets[p] + segments[0].source;
      HWY_UNROLL(3)
      for (int v = 0; v < kTileVecs; ++v) hn::Store(hn::LoadU(d, from + v * kLanes), d, target + v * kLanes);
    }
    return;
  }
  for (int64_t p = depthBegin; p < depthEnd; ++p, target += kTileColumns) {
    const float* from = right.data + right.depthOffsets[p];
    for (int s = 0; s < count; ++s)
      copyRun(from + segments[s].source, target + segments[s].column, segments[s].count, right.slack);
  }
}

void packStrided(const Right& right, int64_t depthBegin, int64_t depthEnd, int64_t column, int64_t columns,
                 float* target) {
  const float* from = right.data + depthBegin * right.depthStride + column * right.columnStride;
  const int64_t depth = depthEnd - depthBegin;
  if (right.columnStride == 1) {
    for (int64_t p = 0; p < depth; ++p)
      copyRun(from + p * right.depthStride, target + p * kTileColumns, columns, false);
    return;
  }
  if (right.depthStride == 1) return transpose(from, right.columnStride, columns, depth, target, kTileColumns);
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t p = 0; p < depth; ++p)
      target[p * kTileColumns + j] = from[p * right.depthStride + j * right.columnStride];
}

void packPanels(const Right& right, int64_t depthBegin, int64_t depthEnd, int64_t columnBegin, int64_t columnEnd,
                float* target) {
  for (int64_t j = columnBegin; j < columnEnd; j += kTileColumns) {
    const int64_t columns = std::min<int64_t>(columnEnd - j, kTileColumns);
    if (right.form == Right::Form::Gathered)
      packGathered(right, depthBegin, depthEnd, j, columns, target);
    else
      packStrided(right, depthBegin, depthEnd, j, columns, target);
    target += (depthEnd - depthBegin) * kTileColumns;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace opkit::cpu::gemm
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opkit::cpu::gemm {

HWY_EXPORT(packPanels);

void packRightPanels(const Right& right, int64_t depthBegin, int64_t depthEnd, int64_t columnBegin, int64_t columnEnd,
                     float* target) {
  HWY_DYNAMIC_DISPATCH(packPanels)(right, depthBegin, depthEnd, columnBegin, columnEnd, target);
}

}  // namespace opkit::cpu::gemm
#endif
