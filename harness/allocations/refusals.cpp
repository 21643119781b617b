#include "harness/allocations/refusals.h"

#include <array>
#include <atomic>
#include <iterator>
#include <utility>

#include "harness/allocations/block_set.h"
#include "harness/allocations/callers.h"
#include "harness/check/heap_watch.h"

namespace opkit::harness {
namespace {

constexpr uint64_t kMostRequests = uint64_t{1} << 32;  // of a window

struct Window {
  std::atomic<bool> open{false};
  std::atomic<bool> armed{false};
  std::atomic<bool> struck{false};
  Request kind = Request::Memory;
  uint64_t grants = 0;
  std::array<std::atomic<uint64_t>, kRequests> requests{};
  RefusedPlace* place = nullptr;
  uint64_t firstLabel = 0;  // of this window: the labels of blocks go on
  BlockSet blocks;
};
Window& window = *new Window;  // blocks are released until the process ends
thread_local bool paused = false;
thread_local uint64_t lastLabel = 0;

/// Whether a request of OpKit is counted now.
bool counts(const void* caller) { return window.open.load(std::memory_order_acquire) && !paused && isOurs(caller); }

bool refusesCounted(Request kind) {
  const uint64_t number = window.requests[static_cast<size_t>(kind)]++;
  lastLabel = window.firstLabel + number;
  if (!window.armed || kind != window.kind || number != window.grants) return false;
  if (window.place) window.place->count = placesInProgram(window.place->offsets, std::size(window.place->offsets));
  window.struck = true;
  return true;
}

HeapWatch::Answer asked(const void* caller) {
  if (!counts(caller)) return HeapWatch::Answer::Give;
  return refusesCounted(Request::Memory) ? HeapWatch::Answer::Refuse : HeapWatch::Answer::GiveAndTell;
}

void given(void* memory, size_t bytes) { window.blocks.add(memory, bytes, lastLabel); }
void returned(void* memory) { window.blocks.remove(memory); }

constexpr HeapWatch kWatch{asked, given, returned};

}  // namespace

RefusalWindow::RefusalWindow(Request kind, uint64_t grants) {
  findCallers();
  window.blocks.makeRoom();
  window.firstLabel += kMostRequests;
  window.kind = kind;
  window.grants = grants;
  for (auto& count : window.requests) count = 0;
  window.struck = false;
  window.armed = true;
  window.open.store(true, std::memory_order_release);
  setHeapWatch(&kWatch);  // for good: blocks may be released after the window
}

RefusalWindow::~RefusalWindow() {
  window.open = false;
  window.armed = false;
}

bool RefusalWindow::disarm() {
  window.armed = false;
  return window.struck;
}

bool RefusalWindow::struck() const { return window.struck; }
uint64_t RefusalWindow::requests(Request kind) const { return window.requests[static_cast<size_t>(kind)]; }
LiveBlocks RefusalWindow::live() { return window.blocks.live(); }
uint64_t RefusalWindow::firstLive() const { return window.blocks.leastLabel(window.firstLabel) - window.firstLabel; }

void keepPlaceIn(RefusedPlace* place) { window.place = place; }

RefusalPause::RefusalPause() : before_(std::exchange(paused, true)) {}
RefusalPause::~RefusalPause() { paused = before_; }

bool refuses(Request kind, const void* caller) { return counts(caller) && refusesCounted(kind); }

}  // namespace opkit::harness
