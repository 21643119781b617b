// The global operator new, counted while a kernel runs, to prove that onExecute allocates nothing, and shown to a
// HeapWatch. Replaces the library's operators in every program that links it.
#include <atomic>
#include <cstdlib>
#include <new>

#include "harness/check/heap_watch.h"
#include "harness/check/kernel_rig.h"

namespace opkit::harness {
namespace {

std::atomic<bool> counting{false};
std::atomic<uint64_t> counted{0};
std::atomic<const HeapWatch*> watch{nullptr};

void* allocate(size_t size, size_t alignment, const void* caller) {
  if (counting.load(std::memory_order_relaxed)) ++counted;
  const HeapWatch* const watching = watch.load(std::memory_order_acquire);
  const HeapWatch::Answer answer = watching ? watching->asked(caller) : HeapWatch::Answer::Give;
  if (answer == HeapWatch::Answer::Refuse) return nullptr;
  void* memory = alignment <= alignof(std::max_align_t)
                     ? std::malloc(size ? size : 1)
                     : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (memory && answer == HeapWatch::Answer::GiveAndTell) watching->given(memory, size);
  return memory;
}

/// The handler is told, as by the library's operators: guardedMain knows by it why a program ends where nothing may
/// throw.
void* orThrow(void* memory) {
  if (memory) return memory;
  if (const std::new_handler handler = std::get_new_handler()) handler();
  throw std::bad_alloc();
}

void release(void* memory) {
  if (const HeapWatch* const watching = watch.load(std::memory_order_acquire); watching && memory)
    watching->returned(memory);
  std::free(memory);
}

}  // namespace

bool countHeap(bool on) { return counting.exchange(on); }
uint64_t heapCount() { return counted; }
void setHeapWatch(const HeapWatch* next) { watch.store(next, std::memory_order_release); }

}  // namespace opkit::harness

using opkit::harness::allocate;
using opkit::harness::orThrow;
using opkit::harness::release;

// Where the call came from.
#define OPKIT_CALLER __builtin_extract_return_addr(__builtin_return_address(0))

void* operator new(size_t size) { return orThrow(allocate(size, 1, OPKIT_CALLER)); }
void* operator new[](size_t size) { return orThrow(allocate(size, 1, OPKIT_CALLER)); }
void* operator new(size_t size, std::align_val_t a) {
  return orThrow(allocate(size, static_cast<size_t>(a), OPKIT_CALLER));
}
void* operator new[](size_t size, std::align_val_t a) {
  return orThrow(allocate(size, static_cast<size_t>(a), OPKIT_CALLER));
}
void* operator new(size_t size, const std::nothrow_t&) noexcept { return allocate(size, 1, OPKIT_CALLER); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return allocate(size, 1, OPKIT_CALLER); }
void* operator new(size_t size, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate(size, static_cast<size_t>(a), OPKIT_CALLER);
}
void* operator new[](size_t size, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate(size, static_cast<size_t>(a), OPKIT_CALLER);
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, size_t) noexcept { release(memory); }
void operator delete[](void* memory, size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { release(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { release(memory); }
