#include "harness/check/hostile_pool.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <numeric>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/float_environment.h"
#include "engine/base/thread_name.h"
#include "harness/check/pause_midway.h"

namespace opkit::harness {
namespace {

// The turns in which threads wait for each other; after how many instructions one stops midway (kFewestSteps, doubled
// each time with probability 1/2, at most kMostDoublings times, and up to as many again); the longest wait. A step is
// a trap of the kernel: long stops are rare, because they would take most of the time.
constexpr size_t kTurns = 3;
constexpr size_t kFewestSteps = 16;
constexpr int kMostDoublings = 5;
constexpr size_t kMostStops = 6;  // loops of one pool that have them
constexpr std::chrono::milliseconds kPatience{200};
constexpr int kPolls = 200;  // so that all threads go on at once
constexpr int kYields = 4;   // then naps: yields of many waiting threads slow the one that they wait for
constexpr std::chrono::microseconds kNap{50};

}  // namespace

HostilePool::HostilePool(size_t threads) {
  OPKIT_CHECK(threads >= 2);
  try {
    for (size_t i = 1; i < threads; ++i) threads_.emplace_back([this, i] { work(i); });
  } catch (...) {  // those that started must end before they are destroyed
    stop();
    throw;
  }
}

HostilePool::~HostilePool() { stop(); }

void HostilePool::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  begun_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void HostilePool::work(size_t threadIndex) {
  nameThread("opkit-hostile");
  const FloatEnvironment environment;
  for (uint64_t seen = 0;;) {
    {
      std::unique_lock lock(mutex_);
      begun_.wait(lock, [&] { return stopping_ || loop_ != seen; });
      if (stopping_) return;
      seen = loop_;
    }
    takeTurns(threadIndex);
    const std::lock_guard lock(mutex_);
    if (--working_ == 0) ended_.notify_one();
  }
}

void HostilePool::parallelFor(size_t count, const Body& body) {
  if (count <= 1) return ThreadPool::parallelFor(count, body);
  const std::lock_guard turn(caller_);
  {
    const std::lock_guard lock(mutex_);
    body_ = &body;
    count_ = count;
    working_ = threads_.size();
    ++loop_;
    shuffle();
  }
  begun_.notify_all();
  takeTurns(0);
  std::unique_lock lock(mutex_);
  ended_.wait(lock, [this] { return working_ == 0; });
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void HostilePool::shuffle() {
  isFailed_ = false;
  arrived_ = stopped_ = finished_ = 0;
  canStop_ = canPauseMidway() && stops_++ < kMostStops;
  orders_ = orders_ * 6364136223846793005u + 1442695040888963407u;
  first_ = static_cast<size_t>(orders_ >> 33) % count_;
  stride_ = static_cast<size_t>(orders_ >> 40) % count_ | 1;
  while (std::gcd(stride_, count_) != 1) ++stride_;
}

/// Every thread takes each n-th index; a turn is one index per thread.
void HostilePool::takeTurns(size_t threadIndex) {
  const size_t threads = threadCount();
  try {
    for (size_t i = threadIndex; i < count_ && !isFailed_; i += threads) {
      const size_t index = (first_ + i * stride_) % count_;
      if (i < kTurns * threads)
        takeTurn(i / threads, threadIndex, [&] { (*body_)(index, threadIndex); });
      else
        (*body_)(index, threadIndex);
    }
  } catch (...) {
    isFailed_ = true;
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
}

/// Nobody begins before all threads have come to this turn. In every second turn one thread stops midway.
void HostilePool::takeTurn(size_t turn, size_t threadIndex, const std::function<void()>& body) {
  const size_t before = turn * threadCount(), members = std::min(threadCount(), count_ - before);
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

/// Waits for `condition`, the failure of another thread, or kPatience: the thread that stopped may hold a lock. Polls,
/// then yields and naps, because there may be fewer cores than threads.
template <class Condition>
void HostilePool::await(const Condition& condition) const {
  const auto limit = std::chrono::steady_clock::now() + kPatience;
  for (int polls = 0; !condition() && !isFailed_; ++polls) {
    if (polls < kPolls) continue;
    if (std::chrono::steady_clock::now() > limit) return;
    if (polls < kPolls + kYields)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(kNap);
  }
}

}  // namespace opkit::harness
