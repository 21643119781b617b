#include "engine/backend/cpu/gemm/gemm.h"

#include <algorithm>
#include <functional>

#include "engine/backend/cpu/gemm/even_part.h"
#include "engine/backend/cpu/gemm/gemm_kernel.h"
#include "engine/base/check.h"

namespace opkit::cpu::gemm {
namespace {

/// Below this many multiply-adds waking the pool costs more than it saves.
constexpr double kMinimumParallelWork = 1 << 17;
/// Tasks per thread: more than one, so that a preempted thread does not delay the rest.
constexpr int64_t kTasksPerThread = 4;

}  // namespace

int64_t depthBlock(int64_t k) { return evenPart(k, kDepthBlock, 8); }

Plan::Plan(const Dims& dims, int64_t batch, bool rightPacked, size_t threads, bool splitsAll)
    : dims_(dims), batch_(batch), threads_(threads) {
  const PanelShape panel = panelShape();
  rowsPerTask_ = std::max(roundUp(dims.m, panel.rows), panel.rows);
  columnsPerTask_ = evenPart(dims.n, rightPacked ? dims.n : kColumnBlock, panel.columns);
  const double work = static_cast<double>(dims.m) * static_cast<double>(dims.n) * static_cast<double>(dims.k);
  if (threads > 1 && (splitsAll || work * static_cast<double>(batch) >= kMinimumParallelWork)) {
    const int64_t wanted = kTasksPerThread * static_cast<int64_t>(threads);
    const auto tasks = [&] { return batch * ceilDiv(dims.m, rowsPerTask_) * ceilDiv(dims.n, columnsPerTask_); };
    // Halve the longer side. Splitting rows repeats the packing of B. So if run() packs B, rows are split last, and
    // never below the size that pays for the packing.
    const int64_t fewestRows = rightPacked || splitsAll ? panel.rows : 16 * panel.rows;
    while (tasks() < wanted) {
      const bool rowsCanSplit = rowsPerTask_ > fewestRows;
      const bool columnsCanSplit = columnsPerTask_ > panel.columns;
      const bool preferColumns = rightPacked ? columnsPerTask_ > rowsPerTask_ : columnsPerTask_ > 2 * panel.columns;
      if (!rowsCanSplit && !columnsCanSplit) break;
      if (columnsCanSplit && (preferColumns || !rowsCanSplit))
        columnsPerTask_ = evenPart(columnsPerTask_, columnsPerTask_ / 2, panel.columns);
      else
        rowsPerTask_ = evenPart(rowsPerTask_, rowsPerTask_ / 2, panel.rows);
    }
  }
  if (!rightPacked) workspacePerThread_ = roundUp(depthBlock(dims.k) * columnsPerTask_ + kPackSlack, 16);
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

void run(const Plan& plan, std::span<const Problem> problems, float* workspace, ThreadPool& pool) {
  const Dims& dims = plan.dims_;
  OPKIT_CHECK(static_cast<int64_t>(problems.size()) == plan.batch_ && pool.threadCount() <= plan.threads_);
  if (dims.m == 0 || dims.n == 0) return;
  const int64_t rowTasks = ceilDiv(dims.m, plan.rowsPerTask_);
  const int64_t columnTasks = ceilDiv(dims.n, plan.columnsPerTask_);
  const auto task = [&](size_t index, size_t thread) {
    const auto i = static_cast<int64_t>(index);
    const int64_t row = i % rowTasks * plan.rowsPerTask_;
    const int64_t column = i / rowTasks % columnTasks * plan.columnsPerTask_;
    computeBlock({&problems[static_cast<size_t>(i / (rowTasks * columnTasks))], dims, row,
                  std::min(row + plan.rowsPerTask_, dims.m), column, std::min(column + plan.columnsPerTask_, dims.n),
                  workspace + plan.workspacePerThread_ * static_cast<int64_t>(thread)});
  };
  // std::ref: a std::function that holds a reference does not allocate.
  pool.parallelFor(static_cast<size_t>(plan.batch_ * rowTasks * columnTasks), std::ref(task));
}

}  // namespace opkit::cpu::gemm
