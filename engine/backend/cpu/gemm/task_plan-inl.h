// Division of extents into equal parts, for the tasks and blocks of matrix products; TaskPlan.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

#include "engine/backend/cpu/gemm/gemm.h"
#include "engine/base/check.h"
#include "engine/base/divide.h"

namespace opkit::cpu {

/// The extent of equal parts of `extent` that have at most `limit`, a multiple of `unit`.
inline int64_t evenPart(int64_t extent, int64_t limit, int64_t unit) {
  const int64_t parts = std::max<int64_t>(ceilDiv(extent, std::max(limit, unit)), 1);
  return std::max(roundUp(ceilDiv(extent, parts), unit), unit);
}

namespace gemm {

inline void TaskPlan::split(bool rightPacked, int64_t fewestRows, int64_t fewestColumns, const PanelShape& panel) {
  constexpr int64_t kTasksPerThread = 4;  // more than one, so that a preempted thread does not delay the rest
  const int64_t wanted = kTasksPerThread * static_cast<int64_t>(threads_);
  while (batch_ * ceilDiv(dims_.m, rowsPerTask_) * ceilDiv(dims_.n, columnsPerTask_) < wanted) {
    const bool rowsCanSplit = rowsPerTask_ > fewestRows, columnsCanSplit = columnsPerTask_ > panel.columns;
    const bool preferColumns = columnsPerTask_ > (rightPacked ? rowsPerTask_ : fewestColumns);
    if (!rowsCanSplit && !columnsCanSplit) break;
    if (columnsCanSplit && (preferColumns || !rowsCanSplit))
      columnsPerTask_ = evenPart(columnsPerTask_, columnsPerTask_ / 2, panel.columns);
    else
      rowsPerTask_ = evenPart(rowsPerTask_, rowsPerTask_ / 2, panel.rows);
  }
}

template <class Body>
void TaskPlan::runTasks(ThreadPool& pool, const Body& body) const {
  OPKIT_CHECK(pool.threadCount() <= threads_);
  if (dims_.m == 0 || dims_.n == 0) return;
  const int64_t rowTasks = ceilDiv(dims_.m, rowsPerTask_), columnTasks = ceilDiv(dims_.n, columnsPerTask_);
  const auto task = [&](size_t index, size_t thread) {
    const auto i = static_cast<int64_t>(index);
    const int64_t row = i % rowTasks * rowsPerTask_, column = i / rowTasks % columnTasks * columnsPerTask_;
    body(static_cast<size_t>(i / (rowTasks * columnTasks)), row, std::min(row + rowsPerTask_, dims_.m), column,
         std::min(column + columnsPerTask_, dims_.n), static_cast<int64_t>(thread));
  };
  // std::ref: a std::function that holds a reference does not allocate.
  pool.parallelFor(static_cast<size_t>(batch_ * rowTasks * columnTasks), std::ref(task));
}

}  // namespace gemm
}  // namespace opkit::cpu
