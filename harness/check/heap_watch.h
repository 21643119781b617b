// HeapWatch: sees every operator new and delete of the program, and may refuse memory. The operators are in
// heap_counter.cpp. One watch at a time; its functions may be called by any thread and must not allocate.
#pragma once

#include <cstddef>

namespace opkit::harness {

struct HeapWatch {
  enum class Answer { Refuse, Give, GiveAndTell };
  Answer (*asked)(const void* caller);        // before each allocation; refused memory is std::bad_alloc, or null
  void (*given)(void* memory, size_t bytes);  // after those with GiveAndTell
  void (*returned)(void* memory);             // before each release, of any block
};

/// Null ends the watch. `watch` must outlive it.
void setHeapWatch(const HeapWatch* watch);

}  // namespace opkit::harness
