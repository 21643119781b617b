#include "engine/base/make_thread_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "engine/base/float_environment.h"
#include "engine/base/thread_name.h"

namespace opkit {
namespace {

using Clock = std::chrono::steady_clock;

/// Idle threads poll for so long before they sleep. Waking a thread takes 12 us of the caller and 24 us until it works
/// (2 virtual cores, condition variable), so threads stay awake across the short kernels of a run. After kBusySpin they
/// offer their core at each look at the clock, and more threads than cores poll no longer than that: else they would
/// keep those from the cores that work.
constexpr std::chrono::microseconds kSpinTime{200}, kBusySpin{20};

std::chrono::microseconds spinTimeOf(size_t threads, ThreadManner manner) {
  if (manner == ThreadManner::Sleeps) return std::chrono::microseconds{0};
  return threads > std::max(std::thread::hardware_concurrency(), 1u) ? kBusySpin : kSpinTime;
}

/// Polls `condition` for `time`, and at least once.
template <class Condition>
bool spinUntil(std::chrono::microseconds time, const Condition& condition) {
  const Clock::time_point begin = Clock::now();
  for (Clock::time_point now = begin;; now = Clock::now()) {
    for (int i = 0; i < 32; ++i) {  // reading the clock costs more than polling
      if (condition()) return true;
#if defined(__x86_64__) || defined(__i386__)
      __builtin_ia32_pause();
#endif
    }
    if (now - begin >= time) return false;
    if (now - begin >= kBusySpin) std::this_thread::yield();
  }
}

}  // namespace

// A job is open while the caller works on it. A worker joins an open job; the caller closes the job when no index is
// left and then waits only for those that joined. state_ counts the joined workers and says whether the job is open, so
// joining, closing and leaving are one atomic operation each. The mutex is for threads that sleep.
//
// Who sleeps first says so (sleepers_, callerSleeps_) and then looks at the state; who changes the state looks for
// sleepers afterwards. Both in the single order of sequentially consistent operations: one of the two sees the other.
class ThreadPool::Workers {
 public:
  Workers(size_t count, ThreadManner manner) : spinTime_(spinTimeOf(count + 1, manner)), shares_(count + 1) {
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
    body_ = &body;
    share(count);
    state_ = kOpen;
    announce();
    drawIndices(0);
    state_ -= kOpen;
    const auto finished = [this] { return state_ == 0; };
    if (!spinUntil(spinTime_, finished)) {
      std::unique_lock lock(mutex_);
      callerSleeps_ = true;
      done_.wait(lock, finished);
      callerSleeps_ = false;
    }
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  struct alignas(64) Share {
    std::atomic<size_t> next{0};
    std::atomic<size_t> end{0};
  };
  static constexpr uint64_t kOpen = 1, kJoined = 2;  // state_: kOpen, and kJoined for each worker in the job

  /// Begins a new epoch and wakes those that sleep.
  void announce() {
    ++epoch_;
    if (sleepers_ == 0) return;
    { const std::lock_guard lock(mutex_); }  // who has looked at the epoch already waits after this
    wake_.notify_all();
  }

  void stop() {
    stopping_ = true;
    announce();
    for (std::thread& thread : threads_) thread.join();
  }

  void work(size_t threadIndex) {
    nameThread("opkit-pool");
    for (uint64_t seen = 0;;) {
      const auto called = [&] { return epoch_ != seen; };
      if (!spinUntil(spinTime_, called)) {
        std::unique_lock lock(mutex_);
        ++sleepers_;
        wake_.wait(lock, called);
        --sleepers_;
      }
      seen = epoch_;  // before joining: a job that opens later has a later epoch
      if (stopping_) return;
      if (join()) {
        const FloatEnvironment environment;
        drawIndices(threadIndex);
        leave();
      }
    }
  }

  bool join() {
    uint64_t state = state_;
    while (state & kOpen)
      if (state_.compare_exchange_weak(state, state + kJoined)) return true;
    return false;
  }

  void leave() {
    if ((state_ -= kJoined) != 0 || !callerSleeps_) return;
    { const std::lock_guard lock(mutex_); }
    done_.notify_one();
  }

  /// Each thread has a share of the indices: a consecutive range, the same in every job of this count. So what a thread
  /// wrote in a job it tends to read in the next one, from its own cache.
  void share(size_t count) {
    for (size_t t = 0; t < shares_.size(); ++t) {
      shares_[t].next = count * t / shares_.size();
      shares_[t].end = count * (t + 1) / shares_.size();
    }
  }

  /// Each thread draws the indices of its share, then those that others have left, so uneven work balances itself.
  void drawIndices(size_t threadIndex) {
    try {
      for (size_t turn = 0; turn < shares_.size(); ++turn) {
        Share& share = shares_[(threadIndex + turn) % shares_.size()];
        if (share.next >= share.end) continue;
        for (size_t i = share.next++; i < share.end; i = share.next++) (*body_)(i, threadIndex);
      }
    } catch (...) {
      for (Share& share : shares_) share.next = share.end.load();  // no thread starts another index
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
    }
  }

  const std::chrono::microseconds spinTime_;
  std::mutex turn_;  // of the caller
  std::mutex mutex_;
  std::condition_variable wake_;  // a new epoch
  std::condition_variable done_;  // the last worker left the job
  std::atomic<size_t> sleepers_{0};
  std::atomic<bool> callerSleeps_{false};
  std::atomic<bool> stopping_{false};
  const std::function<void(size_t, size_t)>* body_ = nullptr;
  // In cache lines of their own: idle threads poll the first, the caller the second.
  alignas(64) std::atomic<uint64_t> epoch_{0};
  alignas(64) std::atomic<uint64_t> state_{0};
  std::vector<Share> shares_;               // of each thread
  alignas(64) std::exception_ptr failure_;  // the first of this job
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
