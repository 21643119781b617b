// ThreadPool: runs an index range on a fixed number of threads.
//
// parallelFor blocks until every index has run. The caller works too, and never waits for a worker that has not begun:
// on a busy machine an unscheduled worker costs nothing. Idle workers poll for work for some microseconds, then sleep.
// Callers on several threads take turns; each session owns a pool. A loop must not begin another one of its pool.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace opkit {

/// How idle threads wait.
enum class ThreadManner { Spins, Sleeps };

class ThreadPool {
 public:
  /// `threads` counts the caller; 0 takes one per core. One thread runs everything on the caller.
  explicit ThreadPool(size_t threads = 1, ThreadManner manner = ThreadManner::Spins);
  virtual ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  virtual size_t threadCount() const;
  /// True if loops must be split however little work they are. Kernels ask before they compare work with a threshold.
  virtual bool splitsAll() const { return false; }

  /// Calls body(index, threadIndex) for every index in [0, count); threadIndex < threadCount(), and no two
  /// calls with one threadIndex overlap. Allocates nothing. Other threads than the caller's have a FloatEnvironment.
  virtual void parallelFor(size_t count, const std::function<void(size_t index, size_t threadIndex)>& body);

 private:
  class Workers;
  std::unique_ptr<Workers> workers_;  // null when single-threaded
};

}  // namespace opkit
