// The global operator new, counted while a kernel runs, to prove that onExecute allocates nothing. Replaces the
// library's operators in every program that links it.
#include <atomic>
#include <cstdlib>
#include <new>

#include "harness/check/kernel_rig.h"

namespace opkit::harness {
namespace {

std::atomic<bool> counting{false};
std::atomic<uint64_t> count{0};

void* allocate(size_t size, size_t alignment) {
  if (counting.load(std::memory_order_relaxed)) ++count;
  void* memory = alignment <= alignof(std::max_align_t)
                     ? std::malloc(size ? size : 1)
                     : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  return memory;
}

void* orThrow(void* memory) {
  if (!memory) throw std::bad_alloc();
  return memory;
}

}  // namespace

bool countHeap(bool on) { return counting.exchange(on); }
uint64_t heapCount() { return count; }

}  // namespace opkit::harness

using opkit::harness::allocate;
using opkit::harness::orThrow;

void* operator new(size_t size) { return orThrow(allocate(size, 1)); }
void* operator new[](size_t size) { return orThrow(allocate(size, 1)); }
void* operator new(size_t size, std::align_val_t a) { return orThrow(allocate(size, static_cast<size_t>(a))); }
void* operator new[](size_t size, std::align_val_t a) { return orThrow(allocate(size, static_cast<size_t>(a))); }
void* operator new(size_t size, const std::nothrow_t&) noexcept { return allocate(size, 1); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return allocate(size, 1); }
void* operator new(size_t size, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate(size, static_cast<size_t>(a));
}
void* operator new[](size_t size, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocate(size, static_cast<size_t>(a));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
