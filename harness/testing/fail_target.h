// Which call of a program fails: read from the environment, counted and remembered for harness/testing/fail_calls.cpp.
//
// clang-format off
//   OPKIT_FAIL_BELOW=FOLDER        only calls on paths below FOLDER count, and on descriptors opened there; allocations
//                                  all count
//   OPKIT_FAIL=CLASS:N[:HOW]       the N-th call of CLASS fails once. CLASS is open, read, write, sync, rename, unlink,
//                                  mkdir, truncate, close, list, stat or alloc; HOW is the number of the error, or
//                                  `short`: a write that takes half of its bytes, before one that fails for lack of
//                                  space. `kill` and `killafter` end the process just before or after the N-th rename,
//                                  unlink or mkdir
//   OPKIT_FAIL_COUNT=FILE          at the exit FILE gets the number of calls of each class; a call that fails adds its
//                                  line at once
//   OPKIT_FAIL_WORKERS=1           calls fail in forked processes, too; each counts on from where its parent stood
// clang-format on
//
// Nothing here allocates: the program may be inside malloc, or in a handler of a signal.
#pragma once

#include <dlfcn.h>
#include <sys/types.h>

#include <atomic>
#include <cstddef>

namespace opkit::fail {

enum Class { Open, Read, Write, Sync, Rename, Unlink, Mkdir, Truncate, Close, List, Stat, Alloc, Moves, kClasses };

/// Reads the environment and starts to count. Programs that this one starts are not disturbed.
void begin();

bool countsPath(const char* path);
/// `folder` is a descriptor, or AT_FDCWD.
bool countsPath(int folder, const char* path);
bool countsDescriptor(int descriptor);
/// Its calls count from now on; returns it.
int remember(int descriptor);
void forget(int descriptor);

/// True if this call, which counts, is the one that fails: errno is set. A place for breakpoints.
bool fails(Class which, const char* path = nullptr, int descriptor = -1);
/// errno of a call that fails after its work.
void setError();
/// How many bytes a write may take: 0 is all; below 0 it fails.
ssize_t limitOfWrite(int descriptor, size_t size);

/// Around a rename, unlink or mkdir: ends the process before or after the chosen one.
class Move {
 public:
  explicit Move(bool isCounted);
  ~Move();
  Move(const Move&) = delete;
  Move& operator=(const Move&) = delete;

 private:
  bool isChosen_;
};

}  // namespace opkit::fail

/// `real`: the C library's function of that name, looked up once.
#define OPKIT_NEXT(name)                              \
  static std::atomic<void*> found{nullptr};           \
  if (!found.load()) found = dlsym(RTLD_NEXT, #name); \
  const auto real = reinterpret_cast<decltype(&::name)>(found.load())
