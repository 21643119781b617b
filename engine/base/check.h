// OPKIT_CHECK: for a programmer's mistake inside OpKit, never for bad input. Prints one line and aborts.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace opkit {
[[noreturn]] inline void checkFailed(const char* file, int line, const char* condition) {
  std::fprintf(stderr, "%s:%d: check failed: %s\n", file, line, condition);
  std::abort();
}
}  // namespace opkit

#define OPKIT_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::opkit::checkFailed(__FILE__, __LINE__, #condition))
