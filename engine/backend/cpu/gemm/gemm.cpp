#include "engine/backend/cpu/gemm/gemm.h"

#include <algorithm>

#include "engine/backend/cpu/gemm/gemm_kernel.h"
#include "engine/backend/cpu/gemm/task_plan-inl.h"
#include "engine/base/check.h"

namespace opkit::cpu::gemm {
namespace {

/// Below this many multiply-adds waking the pool costs more than it saves.
constexpr double kMinimumParallelWork = 1 << 19;

bool keepsColumns(int64_t k, int64_t n) { return n <= kFewColumns && k >= kLeastDotDepth; }

}  // namespace

int64_t depthBlock(int64_t k) { return evenPart(k, kDepthBlock, 8); }

Plan::Plan(const Dims& dims, int64_t batch, bool rightPacked, size_t threads, bool splitsAll)
    : TaskPlan(dims, batch, threads) {
  const PanelShape panel = panelShape();
  rowsPerTask_ = std::max(roundUp(dims.m, panel.rows), panel.rows);
  columnsPerTask_ = evenPart(dims.n, rightPacked ? dims.n : kColumnBlock, panel.columns);
  // Splitting rows repeats the packing of B. So if run() packs B, rows are split last, and never below the size that
  // pays for the packing.
  if (threads > 1 && (splitsAll || work() >= kMinimumParallelWork))
    split(rightPacked, rightPacked || splitsAll ? panel.rows : 16 * panel.rows, 2 * panel.columns, panel);
  if (!rightPacked || dims.n <= kFewColumns) workspacePerThread_ = depthBlock(dims.k) * columnsPerTask_ + kPackSlack;
  workspacePerThread_ = roundUp(std::max(workspacePerThread_, thinFloats(dims)), 16);
}

int64_t packedLeftFloats(int64_t m, int64_t k) { return roundUp(m, panelShape().rows) * k; }

int64_t packedRightFloats(int64_t k, int64_t n) { return roundUp(n, panelShape().columns) * k + kPackSlack; }

void packLeft(const Left& left, int64_t m, int64_t k, float* target) {
  const int64_t rows = panelShape().rows;
  for (int64_t i = 0; i < m; i += rows) {
    for (int64_t p = 0; p < k; ++p)
      for (int64_t r = 0; r < rows; ++r)
        *target++ = i + r < m ? left.data[(i + r) * left.rowStride + p * left.depthStride] : 0.0f;
  }
}

void packRight(const Right& right, int64_t k, int64_t n, float* target) {
  OPKIT_CHECK(right.form != Right::Form::Packed);
  packRightPanels(right, 0, k, 0, n, target);
}

void keepRight(const Right& right, int64_t k, int64_t n, float* target) {
  OPKIT_CHECK(right.form == Right::Form::Strided);
  if (!keepsColumns(k, n)) return packRight(right, k, n, target);
  for (int64_t j = 0; j < n; ++j)
    for (int64_t p = 0; p < k; ++p) *target++ = right.data[p * right.depthStride + j * right.columnStride];
}

Right keptRight(const float* data, int64_t k, int64_t n) {
  if (!keepsColumns(k, n)) return {.form = Right::Form::Packed, .data = data};
  return {.data = data, .depthStride = 1, .columnStride = k};
}

void run(const Plan& plan, std::span<const Problem> problems, float* workspace, ThreadPool& pool) {
  OPKIT_CHECK(static_cast<int64_t>(problems.size()) == plan.batch_);
  plan.runTasks(pool, [&](size_t problem, int64_t row, int64_t rowEnd, int64_t column, int64_t columnEnd,
                          int64_t thread) {
    const Block block{
        &problems[problem], plan.dims_, row, rowEnd, column, columnEnd, workspace + plan.workspacePerThread_ * thread};
    const Thin way = thinOf(*block.problem, block.dims);
    way == Thin::No ? computeBlock(block) : computeThin(block, way);
  });
}

}  // namespace opkit::cpu::gemm
