// MemoryLimit: makes excessive allocations fail on any machine. Sanitizers reserve too much for it: no limit there.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OPKIT_SANITIZED 1
#endif

namespace opkit::fuzz {

/// Of the process, until the end of its scope.
class MemoryLimit {
 public:
  MemoryLimit() {
#ifndef OPKIT_SANITIZED
    size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    getrlimit(RLIMIT_AS, &before_);
    rlimit limit = before_;
    limit.rlim_cur = pages * static_cast<size_t>(sysconf(_SC_PAGESIZE)) + kHeadroom;
    setrlimit(RLIMIT_AS, &limit);
#endif
  }
  ~MemoryLimit() {
#ifndef OPKIT_SANITIZED
    setrlimit(RLIMIT_AS, &before_);
#endif
  }
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

 private:
  static constexpr size_t kHeadroom = size_t{1} << 28;
  rlimit before_{};
};

}  // namespace opkit::fuzz
