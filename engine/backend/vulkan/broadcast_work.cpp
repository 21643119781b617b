#include "engine/backend/vulkan/broadcast_work.h"

#include <algorithm>
#include <bit>

namespace opkit::vulkan {
namespace {

int64_t ceilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Rows that an invocation takes: one, unless an operand repeats over them and would be loaded again for each.
uint32_t rowsPerItem(const Loops& loops, int64_t fours) {
  const size_t row = loops.size.size() - 2, inner = row + 1;
  const bool repeats =
      std::ranges::any_of(loops.strides, [&](const auto& strides) { return strides[row] == 0 && strides[inner] != 0; });
  const int64_t fitting = std::min(fours / BroadcastWork::kLeastInvocations, loops.size[row]);
  if (!repeats || fitting < 2) return 1;
  return static_cast<uint32_t>(
      std::min<uint64_t>(std::bit_floor(static_cast<uint64_t>(fitting)), BroadcastWork::kMostRows));
}

}  // namespace

Divisor Divisor::of(int64_t divisor) {
  if (divisor < 2) return {};  // the number itself
  const int shift = std::bit_width(static_cast<uint64_t>(divisor) - 1);
  const auto excess = (uint64_t{1} << shift) - static_cast<uint64_t>(divisor);
  return {static_cast<int64_t>((excess << 32) / static_cast<uint64_t>(divisor)) + 1, shift};
}

BroadcastWork BroadcastWork::of(const Loops& loops, const DeviceCaps& device, bool vectors) {
  BroadcastWork work;
  const size_t rank = loops.size.size();
  work.count = elementCount(loops.size);
  work.loops = static_cast<uint32_t>(rank);
  work.width = Elements{work.count, vectors && (rank < 2 || loops.size.back() % 4 == 0)}.width(device);
  work.sizes = packed<kMaxLoops>(loops.size);
  for (const auto& strides : loops.strides) work.strides.push_back(packed<kMaxLoops>(strides));
  if (rank > 0) {
    work.sizes[rank - 1] = ceilDivide(work.sizes[rank - 1], work.width);
    for (auto& strides : work.strides) strides[rank - 1] *= work.width;
  }
  if (rank > 1) {
    work.rowCount = loops.size[rank - 2];
    if (work.width > 1) work.rows = rowsPerItem(loops, work.count / work.width);
    work.sizes[rank - 2] = ceilDivide(work.rowCount, work.rows);
    for (auto& strides : work.strides) strides[rank - 2] *= work.rows;
  }
  work.items = 1;
  for (size_t d = 0; d < rank; ++d) {
    work.items *= work.sizes[d];
    if (d == 0) continue;
    const Divisor divisor = Divisor::of(work.sizes[d]);
    work.multipliers[d - 1] = divisor.multiplier;
    work.shifts |= divisor.shift << (5 * (d - 1));
  }
  return work;
}

}  // namespace opkit::vulkan
