// Refusals: makes the system refuse one request of OpKit, and counts them. A request is an operator new, a new thread,
// or a call that opens, reads, writes or maps a file.
//
// Only requests on behalf of OpKit count: those whose first caller outside the standard library and fmt is code of this
// program. The Vulkan driver, its compiler and protobuf end the process when they get no memory, so theirs are granted.
// One window at a time; requests of all threads count. The program links system_calls.cpp and heap_counter.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace opkit::harness {

enum class Request { Memory, Thread, File };
constexpr size_t kRequests = 3;

/// Blocks of OpKit that were allocated in any window and not released.
struct LiveBlocks {
  size_t blocks = 0;
  size_t bytes = 0;
};

/// Where a refused request came from: return addresses in the program, as offsets in its file, the innermost first.
struct RefusedPlace {
  size_t count = 0;
  size_t offsets[32];
};
/// Later windows write theirs to `place`, perhaps in memory that another process sees.
void keepPlaceIn(RefusedPlace* place);
/// The names of OpKit's innermost functions there, by addr2line: "A < B < C". The offsets if it is not installed.
std::string describe(const RefusedPlace& place);

/// While it lives, requests are counted; after `grants` requests of its kind one is refused.
class RefusalWindow {
 public:
  RefusalWindow(Request kind, uint64_t grants);
  ~RefusalWindow();
  RefusalWindow(const RefusalWindow&) = delete;
  RefusalWindow& operator=(const RefusalWindow&) = delete;

  /// No further request is refused; blocks are still counted. True if one was.
  bool disarm();
  bool struck() const;
  uint64_t requests(Request kind) const;
  static LiveBlocks live();
  /// The first request of this window whose block is live.
  uint64_t firstLive() const;
};

/// While it lives, requests are neither counted nor refused: a harness's own work inside a window.
class RefusalPause {
 public:
  RefusalPause();
  ~RefusalPause();
  RefusalPause(const RefusalPause&) = delete;
  RefusalPause& operator=(const RefusalPause&) = delete;

 private:
  bool before_;
};

/// For the functions that ask: counts a request, and says whether it is refused. `caller` is its return address.
bool refuses(Request kind, const void* caller);

}  // namespace opkit::harness
