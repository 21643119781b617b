// makeThreadPool: a pool of as many threads as somebody asked for, or why there is none. Kernels, which get their pool
// from a backend, need thread_pool.h alone.
#pragma once

#include <memory>

#include "engine/base/status.h"
#include "engine/base/thread_pool.h"

namespace opkit {

constexpr size_t kMostThreads = 1024;  // more is a slip, and each costs a stack

/// InvalidArgument for more than kMostThreads; 0 is one per core.
Status checkThreads(size_t threads);
/// As the constructor of ThreadPool. Errors are those of checkThreads, and OutOfMemory when the system refuses a
/// thread.
Result<std::unique_ptr<ThreadPool>> makeThreadPool(size_t threads, bool spins = true);

}  // namespace opkit
