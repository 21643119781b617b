#include "engine/base/thread_pool.h"

#include <pthreadpool.h>

#include <atomic>
#include <thread>

namespace opkit {

void ThreadPool::Deleter::operator()(pthreadpool* pool) const { pthreadpool_destroy(pool); }

ThreadPool::ThreadPool(size_t threads) {
  if (threads == 0) threads = std::thread::hardware_concurrency();
  if (threads > 1) pool_.reset(pthreadpool_create(threads));
}

ThreadPool::~ThreadPool() = default;

size_t ThreadPool::threadCount() const { return pool_ ? pthreadpool_get_threads_count(pool_.get()) : 1; }

void ThreadPool::parallelFor(size_t count, const std::function<void(size_t, size_t)>& body) {
  if (!pool_ || count <= 1) {
    for (size_t i = 0; i < count; ++i) body(i, 0);
    return;
  }
  // One task per worker; each draws indices until none is left, so uneven work balances itself.
  struct Work {
    const std::function<void(size_t, size_t)>& body;
    size_t count;
    std::atomic<size_t> next{0};
  } work{body, count};
  auto worker = [](void* context, size_t workerIndex) {
    auto& shared = *static_cast<Work*>(context);
    for (size_t i = shared.next++; i < shared.count; i = shared.next++) shared.body(i, workerIndex);
  };
  pthreadpool_parallelize_1d(pool_.get(), worker, &work, threadCount(), 0);
}

}  // namespace opkit
