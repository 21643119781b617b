#include "engine/backend/cpu/gemm/byte_gemm.h"

#include <algorithm>
#include <functional>

#include "engine/backend/cpu/gemm/byte_gemm_kernel.h"
#include "engine/backend/cpu/gemm/task_plan-inl.h"
#include "engine/base/check.h"

#if defined(__linux__) && defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace opkit::cpu::bytes {
namespace {

/// Below this many multiply-adds waking the pool costs more than it saves.
constexpr double kMinimumParallelWork = 1 << 19;
/// Columns that a task packs together: with the usual depths they stay in the second-level cache.
constexpr int64_t kColumnBlock = 240;

Instructions bestAllowed = Instructions::Tiles;

/// Linux gives the registers to a process that asks for them, for all its threads.
bool askForTiles() {
#if defined(__linux__) && defined(__x86_64__)
  constexpr unsigned kTileAndInt8 = 3u << 24;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (d & kTileAndInt8) != kTileAndInt8) return false;
  constexpr long kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILE_DATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}

bool isZero(const PerLine<int32_t>& line, int64_t count) {
  return std::all_of(line.data, line.data + (line.step == 0 ? 1 : count), [](int32_t value) { return value == 0; });
}

}  // namespace

Instructions best() { return bestAllowed; }
void setBest(Instructions instructions) { bestAllowed = instructions; }
bool permitsTiles() {
  static const bool permits = askForTiles();
  return permits;
}

Plan::Plan(const Dims& dims, int64_t batch, bool rightPacked, const ThreadPool& pool)
    : TaskPlan(dims, batch, pool.threadCount()) {
  const PanelShape panel = panelShape();
  rowsPerTask_ = evenPart(dims.m, dims.m, panel.rows);
  columnsPerTask_ = evenPart(dims.n, rightPacked ? dims.n : kColumnBlock, panel.columns);
  // Splitting rows repeats the packing of B: never below the size that pays for it.
  if (threads_ > 1 && (pool.splitsAll() || work() >= kMinimumParallelWork))
    split(rightPacked, rightPacked || pool.splitsAll() ? panel.rows : 16 * panel.rows, panel.columns, panel);
  if (!rightPacked) workspacePerThread_ = packedRightBytes(dims.k, columnsPerTask_);
}

int64_t packedLeftBytes(int64_t m, int64_t k) { return ceilDiv(m, panelShape().rows) * leftPanelBytes(k); }
int64_t packedRightBytes(int64_t k, int64_t n) { return ceilDiv(n, panelShape().columns) * rightPanelBytes(k); }

void packLeft(const Left& left, int64_t matrices, int64_t m, int64_t k, uint8_t* target, ThreadPool* pool) {
  const int64_t rows = panelShape().rows, panels = ceilDiv(m, rows);
  const auto panel = [&](size_t index, size_t) {
    const auto i = static_cast<int64_t>(index);
    Left matrix = left;
    matrix.data += i / panels * m * left.rowStride;
    packLeftPanel(matrix, m, k, i % panels * rows, target + i * leftPanelBytes(k));
  };
  const auto count = static_cast<size_t>(matrices * panels);
  if (pool) return pool->parallelFor(count, std::ref(panel));
  for (size_t i = 0; i < count; ++i) panel(i, 0);
}

void packRight(const Right& right, int64_t k, int64_t n, uint8_t* target) {
  const int64_t columns = panelShape().columns;
  for (int64_t j = 0; j < n; j += columns, target += rightPanelBytes(k)) packRightPanel(right, k, n, j, true, target);
}

void run(const Plan& plan, std::span<const Problem> problems, uint8_t* workspace, ThreadPool& pool) {
  const Dims& dims = plan.dims_;
  OPKIT_CHECK(static_cast<int64_t>(problems.size()) == plan.batch_);
  const int64_t panelColumns = panelShape().columns, panelBytes = rightPanelBytes(dims.k);
  plan.runTasks(pool,
                [&](size_t index, int64_t row, int64_t rowEnd, int64_t column, int64_t columnEnd, int64_t thread) {
                  const Problem& problem = problems[index];
                  Block block{&problem, dims.k, row, rowEnd, column, columnEnd, nullptr};
                  if (problem.right.packed) {
                    block.right = problem.right.data + column / panelColumns * panelBytes;
                  } else {
                    uint8_t* panels = workspace + plan.workspacePerThread_ * thread;
                    block.right = panels;
                    const bool withSums = !isZero(problem.leftZeroPoint, dims.m);
                    for (int64_t j = column; j < columnEnd; j += panelColumns, panels += panelBytes)
                      packRightPanel(problem.right, dims.k, dims.n, j, withSums, panels);
                  }
                  computeBlock(block);
                });
}

}  // namespace opkit::cpu::bytes
