// makeThreadPool: a pool of the requested number of threads, or an error. Kernels get their pool from a backend and
// need only thread_pool.h.
#pragma once

#include <memory>

#include "engine/base/status.h"
#include "engine/base/thread_pool.h"

namespace opkit {

constexpr size_t kMostThreads = 1024;  // more is a mistake, and each thread costs a stack

/// InvalidArgument for more than kMostThreads; 0 is one per core.
Status checkThreads(size_t threads);
/// As the constructor of ThreadPool. Errors are those of checkThreads, and OutOfMemory if the system refuses a thread.
Result<std::unique_ptr<ThreadPool>> makeThreadPool(size_t threads, ThreadManner manner = ThreadManner::Spins);

}  // namespace opkit
