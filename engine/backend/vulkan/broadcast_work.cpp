#include "engine/backend/vulkan/broadcast_work.h"

#include <algorithm>
#include <bit>

#include "engine/base/divide.h"

namespace opkit::vulkan {
namespace {

/// The values behind as many of `filler` as make kMaxLoops.
std::array<int64_t, BroadcastWork::kMaxLoops> lastOf(const DimVector& values, int64_t filler) {
  OPKIT_CHECK(values.size() <= BroadcastWork::kMaxLoops);
  std::array<int64_t, BroadcastWork::kMaxLoops> result;
  result.fill(filler);
  std::ranges::copy_backward(values, result.end());
  return result;
}

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
  const size_t rank = loops.size.size(), first = kMaxLoops - rank, row = kMaxLoops - 2, inner = kMaxLoops - 1;
  work.count = elementCount(loops.size);
  work.loops = static_cast<uint32_t>(rank);
  work.width = Elements{work.count, vectors && (rank < 2 || loops.size.back() % 4 == 0)}.width(device);
  work.sizes = lastOf(loops.size, 1);
  for (const auto& strides : loops.strides) work.strides.push_back(lastOf(strides, 0));
  if (rank > 1 && work.width > 1) work.rows = rowsPerItem(loops, work.count / work.width);
  work.rowCount = work.sizes[row];
  work.sizes[inner] = ceilDiv(work.sizes[inner], work.width);
  work.sizes[row] = ceilDiv(work.sizes[row], work.rows);
  for (auto& strides : work.strides) {
    strides[inner] *= work.width;
    strides[row] *= work.rows;
  }
  work.items = elementCount({work.sizes.begin(), work.sizes.end()});
  for (size_t d = first + 1; d < kMaxLoops; ++d) {
    const Divisor divisor = Divisor::of(work.sizes[d]);
    work.multipliers[d - 1] = divisor.multiplier;
    work.shifts |= divisor.shift << (5 * (d - 1));
  }
  return work;
}

}  // namespace opkit::vulkan
