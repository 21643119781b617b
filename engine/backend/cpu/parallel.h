// Splitting loops of CPU kernels over the threads of a ThreadPool. Nothing here allocates.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>

#include "engine/base/thread_pool.h"
#include "engine/op/loops.h"

namespace opkit::cpu {

/// Work of about 10 us: below it, a thread costs more than it saves.
inline constexpr int64_t kGrainElements = 32768;

/// Calls body(begin, end) for parts that cover [0, count), in parallel if there is more than `grain` of work. Bounds
/// are multiples of 16, so that threads do not share cache lines.
template <class Body>
void parallelRanges(ThreadPool& pool, int64_t count, int64_t grain, const Body& body) {
  if (count <= 0) return;
  const auto most = static_cast<int64_t>(pool.threadCount()) * 4;
  if (pool.splitsAll()) grain = 16;
  const int64_t tasks = pool.threadCount() == 1 ? 1 : std::clamp<int64_t>(count / std::max<int64_t>(grain, 1), 1, most);
  if (tasks == 1) return body(int64_t{0}, count);
  const int64_t step = ((count + tasks - 1) / tasks + 15) / 16 * 16;
  const auto task = [&](size_t index, size_t) {
    const int64_t begin = static_cast<int64_t>(index) * step;
    if (begin < count) body(begin, std::min(begin + step, count));
  };
  // std::ref: a std::function that holds a reference does not allocate.
  pool.parallelFor(static_cast<size_t>(tasks), std::ref(task));
}

/// Calls body(index) for [0, count), `work` elements each; in parallel if that pays.
template <class Body>
void parallelRows(ThreadPool& pool, int64_t count, int64_t work, const Body& body) {
  if (count <= 0) return;
  if (pool.threadCount() == 1 || count == 1 || (count * work < 2 * kGrainElements && !pool.splitsAll())) {
    for (int64_t i = 0; i < count; ++i) body(i);
    return;
  }
  const int64_t perTask =
      std::max<int64_t>(1, pool.splitsAll() ? 1
                                            : std::min(kGrainElements / std::max<int64_t>(work, 1),
                                                       count / (2 * static_cast<int64_t>(pool.threadCount()))));
  const auto task = [&](size_t index, size_t) {
    const int64_t begin = static_cast<int64_t>(index) * perTask;
    for (int64_t i = begin; i < std::min(begin + perTask, count); ++i) body(i);
  };
  pool.parallelFor(static_cast<size_t>((count + perTask - 1) / perTask), std::ref(task));
}

/// Loops that forEachRun can walk.
inline constexpr size_t kMaxLoops = 8;

/// Walks output elements [begin, end) of the outer `rank` loops in order, in runs along the innermost of them: calls
/// body(first output element, element of each operand, count, inner stride of each operand).
/// REQUIRES N operands and at most kMaxLoops loops.
template <size_t N, class Body>
void forEachRun(const Loops& loops, size_t rank, int64_t begin, int64_t end, const Body& body) {
  std::array<int64_t, N> offset{}, inner{};
  if (rank == 0) return body(begin, offset, end - begin, inner);
  std::array<int64_t, kMaxLoops> position{};
  int64_t rest = begin;
  for (size_t d = rank; d-- > 0; rest /= loops.size[d]) {
    position[d] = rest % loops.size[d];
    for (size_t k = 0; k < N; ++k) offset[k] += position[d] * loops.strides[k][d];
  }
  for (size_t k = 0; k < N; ++k) inner[k] = loops.strides[k][rank - 1];
  for (int64_t i = begin; i < end;) {
    const int64_t count = std::min(loops.size[rank - 1] - position[rank - 1], end - i);
    body(i, offset, count, inner);
    i += count;
    position[rank - 1] += count;
    for (size_t k = 0; k < N; ++k) offset[k] += count * inner[k];
    for (size_t d = rank - 1; d > 0 && position[d] == loops.size[d]; --d) {
      position[d] = 0;
      ++position[d - 1];
      for (size_t k = 0; k < N; ++k) offset[k] += loops.strides[k][d - 1] - loops.size[d] * loops.strides[k][d];
    }
  }
}

/// The same for all loops.
template <size_t N, class Body>
void forEachRun(const Loops& loops, int64_t begin, int64_t end, const Body& body) {
  forEachRun<N>(loops, loops.size.size(), begin, end, body);
}

}  // namespace opkit::cpu
