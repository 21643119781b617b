// What descriptions of tensors take from the heap, counted by heap_counter.cpp.
#include <gtest/gtest.h>

#include "engine/op/region.h"
#include "engine/tensor/tensor.h"
#include "harness/check/kernel_rig.h"

namespace opkit::harness {
namespace {

/// Calls of operator new in `body`.
template <class Body>
uint64_t allocationsOf(Body body) {
  const uint64_t before = heapCount();
  const bool counted = countHeap(true);
  body();
  countHeap(counted);
  return heapCount() - before;
}

uint64_t allocationsOfCopies(size_t rank) {
  const TensorDesc desc{DType::Float32, Shape(rank, 2)};
  return allocationsOf([&] {
    TensorDesc copy = desc;
    TensorDesc moved = std::move(copy);
    copy = moved;
    moved = std::move(copy);
    moved.shape.insert(moved.shape.end(), desc.shape.begin(), desc.shape.begin() + (rank < 8));
  });
}

TEST(TensorDescHeap, CopiesOfUpToEightExtentsTakeNothing) {
  for (size_t rank = 0; rank <= 8; ++rank) EXPECT_EQ(allocationsOfCopies(rank), 0u) << rank;
  EXPECT_EQ(allocationsOfCopies(9), 2u);  // the count counts: two copies, two moves
  EXPECT_EQ(allocationsOfCopies(20), 2u);
}

TEST(TensorDescHeap, RegionsTakeNothing) {
  const Shape shape{2, 3, 4, 5};
  size_t rank = 0;
  const uint64_t allocations = allocationsOf([&] {
    const Region region{0, 0, 0, shape, contiguousStrides(shape), broadcastStrides({4, 1}, shape)};
    rank = collapse(region).size.size();
  });
  EXPECT_EQ(allocations, 0u);
  EXPECT_EQ(rank, 3u);
}

}  // namespace
}  // namespace opkit::harness
