#include "engine/base/make_thread_pool.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace opkit {
namespace {

/// Polls `condition` before a thread sleeps: for about ten microseconds, roughly the cost of sleeping.
constexpr int kSpins = 2000;

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
  Workers(size_t count, ThreadManner manner) : spins_(manner == ThreadManner::Spins ? kSpins : 0) {
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

  void run(size_t count, const std::function<void(size_t, size_t)>& body) {
    const std::lock_guard turn(turn_);
    {
      const std::lock_guard lock(mutex_);
      body_ = &body;
      count_ = count;
      next_ = 0;
      open_ = true;
      ++epoch_;
    }
    wake_.notify_all();
    drawIndices(0);
    const auto finished = [this] { return joined_ == 0; };
    {
      const std::lock_guard lock(mutex_);
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
      drawIndices(threadIndex);
      const std::lock_guard lock(mutex_);
      if (--joined_ == 0) done_.notify_one();
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
  std::mutex turn_;  // of the caller
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

size_t ThreadPool::threadCount() const { return workers_ ? workers_->count() + 1 : 1; }

void ThreadPool::parallelFor(size_t count, const std::function<void(size_t, size_t)>& body) {
  if (workers_ && count > 1) {
    workers_->run(count, body);
    return;
  }
  for (size_t i = 0; i < count; ++i) body(i, 0);
}

}  // namespace opkit
