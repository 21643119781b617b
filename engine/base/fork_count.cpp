#include "engine/base/fork_count.h"

#include <pthread.h>

#include <atomic>

namespace opkit {
namespace {

std::atomic<uint64_t> count{0};
[[maybe_unused]] const int kIsCounted = pthread_atfork(nullptr, nullptr, [] { ++count; });

}  // namespace

uint64_t forkCount() { return count; }

}  // namespace opkit
