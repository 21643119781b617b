// HostilePool: a ThreadPool that shows races which a kind schedule hides. Sessions take it as SessionConfig::pool.
//
// Kernels split all loops, however little work they are. All threads take part in every loop, and the indices come in
// another order at each call. The threads begin together, and in every second turn one of them stops in the middle of
// its index until the others have finished theirs (pauseMidway).
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/base/thread_pool.h"

namespace opkit::harness {

class HostilePool final : public ThreadPool {
 public:
  /// `threads` counts the caller and is at least 2. Throws std::system_error if the system refuses one.
  explicit HostilePool(size_t threads);
  ~HostilePool() override;

  size_t threadCount() const override { return threads_.size() + 1; }
  bool splitsAll() const override { return true; }
  void parallelFor(size_t count, const std::function<void(size_t index, size_t threadIndex)>& body) override;

 private:
  using Body = std::function<void(size_t, size_t)>;
  void stop();
  void work(size_t threadIndex);
  void shuffle();
  void takeTurns(size_t threadIndex);
  void takeTurn(size_t turn, size_t threadIndex, const std::function<void()>& body);
  template <class Condition>
  void await(const Condition& condition) const;

  std::mutex caller_;  // callers take turns
  std::mutex mutex_;   // of the members up to `stopping_`
  std::condition_variable begun_, ended_;
  uint64_t loop_ = 0;   // a number of its own
  size_t working_ = 0;  // threads besides the caller
  const Body* body_ = nullptr;
  size_t count_ = 0;
  std::exception_ptr failure_;  // the first of this loop
  bool stopping_ = false;

  size_t first_ = 0, stride_ = 1;      // index i of the loop is (first_ + i * stride_) % count_
  bool canStop_ = false;               // in this loop
  size_t stops_ = 0;                   // loops that had stops
  uint64_t orders_ = 1;                // the source of the next order
  std::atomic<bool> isFailed_{false};  // no thread waits for another one any more
  std::atomic<size_t> stopped_{0};     // turns in which the thread that stops midway has stopped
  std::atomic<size_t> finished_{0};    // indices
  std::atomic<size_t> arrived_{0};     // indices that threads came to
  std::vector<std::thread> threads_;
};

}  // namespace opkit::harness
