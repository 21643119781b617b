// The operators of heap_counter.cpp stand for those of the library, also where memory is refused.
#include <gtest/gtest.h>

#include <new>
#include <utility>

#include "harness/check/heap_watch.h"

namespace opkit::harness {
namespace {

bool refusing = false, wasTold = false;

TEST(HeapCounter, RefusedMemoryReachesTheNewHandler) {
  const HeapWatch watch = {
      [](const void*) { return std::exchange(refusing, false) ? HeapWatch::Answer::Refuse : HeapWatch::Answer::Give; },
      [](void*, size_t) {}, [](void*) {}};
  const std::new_handler before = std::set_new_handler([] { wasTold = true; });
  setHeapWatch(&watch);
  refusing = true;
  EXPECT_THROW(::operator delete(::operator new(1)), std::bad_alloc);
  setHeapWatch(nullptr);
  std::set_new_handler(before);
  EXPECT_TRUE(wasTold);
}

}  // namespace
}  // namespace opkit::harness
