// ThreadPool: runs an index range on a fixed number of threads.
//
// A thin owner of a pthreadpool. parallelFor blocks until every index has run. One pool serves one caller
// at a time; sessions own a pool each.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

struct pthreadpool;

namespace opkit {

class ThreadPool {
 public:
  /// `threads` = 0 takes one per core. One thread runs everything on the caller.
  explicit ThreadPool(size_t threads = 1);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  size_t threadCount() const;

  /// Calls body(index, threadIndex) for every index in [0, count); threadIndex < threadCount().
  void parallelFor(size_t count, const std::function<void(size_t index, size_t threadIndex)>& body);

 private:
  struct Deleter {
    void operator()(pthreadpool* pool) const;
  };
  std::unique_ptr<pthreadpool, Deleter> pool_;  // null when single-threaded
};

}  // namespace opkit
