#include "engine/base/make_thread_pool.h"

#include "engine/base/pause_midway.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <numeric>
#include <system_error>
#include <thread>
#include <vector>

namespace opkit {
namespace {

/// Polls `condition` before a thread sleeps: for about ten microseconds, roughly the cost of sleeping.
constexpr int kSpins = 2000;
// Of a hostile loop: the turns in which threads wait for each other, after how many instructions one stops midway
// (kFewestSteps, doubled each time with probability 1/2, at most kMostDoublings times, and up to as many again), and
// the longest wait. A step is a trap of the kernel: long stops are rare, because they would take most of the time.
constexpr size_t kTurns = 3;
constexpr size_t kFewestSteps = 16;
constexpr int kMostDoublings = 5;
constexpr size_t kMostStops = 6;  // loops of one pool that have them
constexpr std::chrono::milliseconds kPatience{200};
constexpr int kYields = 4;  // then naps: yields of many waiting threads slow the one that they wait for
constexpr std::chrono::microseconds kNap{50};

template <class Condition>
bool spinUntil(int spins, const Condition& condition) {
  for (int i = 0; i < spins; ++i) {
    if (condition()) return true;
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
  }
  return false;
}

}  // namespace

// A job is open while the caller works on it. A worker joins an open job under the mutex; the caller closes
// the job when no index is left and then waits only for those that joined.
class ThreadPool::Workers {
 public:
  Workers(size_t count, ThreadManner manner)
      : spins_(manner == ThreadManner::Spins ? kSpins : 0), hostile_(manner == ThreadManner::Hostile) {
    threads_.reserve(count);
    try {
      for (size_t i = 1; i <= count; ++i) threads_.emplace_back([this, i] { work(i); });
    } catch (...) {  // the system refuses more threads: those that started must end before they are destroyed
      stop();
      throw;
    }
  }

  ~Workers() { stop(); }

  size_t count() const { return threads_.size(); }
  bool isHostile() const { return hostile_; }

  void run(size_t count, const std::function<void(size_t, size_t)>& body) {
    const std::lock_guard turn(turn_);
    {
      const std::lock_guard lock(mutex_);
      if (hostile_) shuffle(count);
      body_ = &body;
      count_ = count;
      next_ = 0;
      open_ = true;
      ++epoch_;
    }
    wake_.notify_all();
    hostile_ ? takeTurns(0) : drawIndices(0);
    const auto finished = [this] { return joined_ == 0; };
    {
      std::unique_lock lock(mutex_);
      if (hostile_) done_.wait(lock, [this] { return left_ == threads_.size(); });
      open_ = false;
    }
    if (!spinUntil(spins_, finished)) {
      std::unique_lock lock(mutex_);
      done_.wait(lock, finished);
    }
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      ++epoch_;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  void work(size_t threadIndex) {
    for (uint64_t seen = 0;;) {
      spinUntil(spins_, [&] { return epoch_ != seen; });
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return epoch_ != seen; });
        seen = epoch_;
        if (stopping_) return;
        if (!open_) continue;
        ++joined_;
      }
      hostile_ ? takeTurns(threadIndex) : drawIndices(threadIndex);
      const std::lock_guard lock(mutex_);
      ++left_;
      if (--joined_ == 0) done_.notify_one();
    }
  }

  /// Another order for each loop: index i of it is (first_ + i * stride_) % count.
  void shuffle(size_t count) {
    left_ = 0;
    arrived_ = stopped_ = finished_ = 0;
    canStop_ = canPauseMidway() && stops_++ < kMostStops;
    orders_ = orders_ * 6364136223846793005u + 1442695040888963407u;
    first_ = static_cast<size_t>(orders_ >> 33) % count;
    stride_ = static_cast<size_t>(orders_ >> 40) % count | 1;
    while (std::gcd(stride_, count) != 1) ++stride_;
  }

  /// Every thread takes each n-th index; a turn is one index per thread.
  void takeTurns(size_t threadIndex) {
    const size_t threads = threads_.size() + 1;
    try {
      for (size_t i = threadIndex; i < count_ && next_ == 0; i += threads) {
        const size_t index = (first_ + i * stride_) % count_;
        if (i < kTurns * threads)
          takeTurn(i / threads, threadIndex, [&] { (*body_)(index, threadIndex); });
        else
          (*body_)(index, threadIndex);
      }
    } catch (...) {
      next_ = count_;  // no thread waits for this one
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
    }
  }

  /// Nobody begins before all threads have come to this turn. In every second turn one thread stops midway.
  void takeTurn(size_t turn, size_t threadIndex, const std::function<void()>& body) {
    const size_t threads = threads_.size() + 1, before = turn * threads;
    const size_t members = std::min(threads, count_ - before);
    ++arrived_;
    await([&] { return arrived_ >= before + members; });
    const bool anyStops = turn % 2 == 0 && members > 1 && canStop_;
    if (!anyStops || threadIndex != (first_ + turn) % members) {
      if (anyStops) await([&] { return stopped_ > turn; });
      body();
    } else {
      const int doublings = std::min(std::countr_zero(orders_ >> (8 + turn)), kMostDoublings);
      const size_t least = kFewestSteps << doublings, more = static_cast<size_t>(orders_ >> (20 + 5 * turn)) % least;
      pauseMidway(least + more, body, [&] {
        stopped_ = turn + 1;
        await([&] { return finished_ >= before + members - 1; });
      });
      stopped_ = turn + 1;  // it may have ended before it could stop
    }
    ++finished_;
  }

  /// Waits for `condition`, the failure of another thread, or kPatience: the thread that stopped may hold a lock.
  /// Spins, so that all go on at once; then yields and naps, because there may be fewer cores than threads.
  template <class Condition>
  void await(const Condition& condition) const {
    const auto limit = std::chrono::steady_clock::now() + kPatience;
    for (int yields = 0; !spinUntil(kSpins / 10, [&] { return condition() || next_ != 0; }); ++yields) {
      if (std::chrono::steady_clock::now() > limit) return;
      if (yields < kYields)
        std::this_thread::yield();
      else
        std::this_thread::sleep_for(kNap);
    }
  }

  /// Each thread draws indices until none is left, so uneven work balances itself.
  void drawIndices(size_t threadIndex) {
    try {
      for (size_t i = next_++; i < count_; i = next_++) (*body_)(i, threadIndex);
    } catch (...) {
      next_ = count_;  // no thread starts another index
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
    }
  }

  const int spins_;
  const bool hostile_;
  size_t first_ = 0, stride_ = 1;    // the order of this loop
  bool canStop_ = false;             // in this loop
  size_t stops_ = 0;                 // loops that had stops
  uint64_t orders_ = 1;              // the source of the next order
  std::atomic<size_t> stopped_{0};   // turns in which the thread that stops midway has stopped
  std::atomic<size_t> finished_{0};  // indices
  std::atomic<size_t> arrived_{0};   // indices that threads came to
  size_t left_ = 0;                  // workers that have finished this loop
  std::mutex turn_;                  // of the caller
  std::mutex mutex_;
  std::condition_variable wake_;  // a new epoch
  std::condition_variable done_;  // the last worker left the job
  std::atomic<uint64_t> epoch_{0};
  std::atomic<size_t> joined_{0};  // workers in the job
  bool open_ = false;
  bool stopping_ = false;
  const std::function<void(size_t, size_t)>* body_ = nullptr;
  size_t count_ = 0;
  std::atomic<size_t> next_{0};
  std::exception_ptr failure_;  // the first of this job
  std::vector<std::thread> threads_;
};

Status checkThreads(size_t threads) {
  if (threads <= kMostThreads) return Status::ok();
  return Status::invalidArgument("threads: expected 0 (one per core) to {}, got {}", kMostThreads, threads);
}

Result<std::unique_ptr<ThreadPool>> makeThreadPool(size_t threads, ThreadManner manner) {
  OPKIT_TRY(checkThreads(threads));
  try {
    return std::make_unique<ThreadPool>(threads, manner);
  } catch (const std::system_error& error) {
    return Status::outOfMemory(
        "the system refused one of {} threads: {}; ask for fewer, or raise the limit (ulimit -u, ulimit -v)",
        threads == 0 ? std::max(std::thread::hardware_concurrency(), 1u) : threads, error.what());
  }
}

ThreadPool::ThreadPool(size_t threads, ThreadManner manner) {
  if (threads == 0) threads = std::max(std::thread::hardware_concurrency(), 1u);
  if (threads > 1) workers_ = std::make_unique<Workers>(threads - 1, manner);
}

ThreadPool::~ThreadPool() = default;

bool ThreadPool::splitsAll() const { return workers_ && workers_->isHostile(); }

size_t ThreadPool::threadCount() const { return workers_ ? workers_->count() + 1 : 1; }

void ThreadPool::parallelFor(size_t count, const std::function<void(size_t, size_t)>& body) {
  if (workers_ && count > 1) {
    workers_->run(count, body);
    return;
  }
  for (size_t i = 0; i < count; ++i) body(i, 0);
}

}  // namespace opkit
