#include "ops/top_k/row_sort_vulkan.h"

#include <bit>

#include "shaders/top_k/top_k_sort.h"
#include "shaders/top_k/top_k_swap.h"

namespace opkit::ops::top_k {
namespace {

using Sort = shaders::TopKSort;

constexpr int64_t kTile = 1024;  // as in top_k_sort.comp: what a group sorts
constexpr int64_t kGroup = 128;  // invocations of top_k_sort.comp

}  // namespace

Kind kindOf(DType dtype) {
  if (kFloats.contains(dtype)) return dtype == DType::Float16 ? kHalf : kFloat;
  constexpr DTypeSet kSignedTypes{DType::Int8, DType::Int16, DType::Int32, DType::Int64};
  return kSignedTypes.contains(dtype) ? kSigned : kUnsigned;
}

int64_t powerOfTwo(int64_t least) { return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(least))); }

Result<Candidates> RowSort::best(int64_t k) const {
  return 2 * k <= kTile || rows_.extent <= kTile ? select(k) : sortAll();
}

Result<Candidates> RowSort::allocate(int64_t perRow) const {
  const int64_t words = sizeOf(x_.desc.dtype) == 8 ? 2 : 1, rows = rows_.count();
  OPKIT_ASSIGN(const Tensor* ranks, encoder_.scratch({DType::UInt32, {rows, perRow, words}}));
  OPKIT_ASSIGN(const Tensor* places, encoder_.scratch({DType::UInt32, {rows, perRow}}));
  return Candidates{ranks, places, perRow};
}

Status RowSort::sort(const Candidates* from, const Candidates& to, const Step& step) const {
  const Candidates& source = from ? *from : to;
  return encoder_.dispatch<Sort>(
      {*Sort::wordOfBytes(sizeOf(x_.desc.dtype))},
      {.x = &x_, .ranks = source.ranks, .places = source.places, .newRanks = to.ranks, .newPlaces = to.places},
      {.rows = rows_.count(),
       .extent = rows_.extent,
       .inner = rows_.inner,
       .given = step.given,
       .slots = step.slots,
       .keep = step.keep,
       .firstRun = step.firstRun,
       .lastRun = step.lastRun},
      vulkan::Items{(rows_.count() * step.slots + kTile - 1) / kTile, kGroup},
      {.tile = static_cast<uint32_t>(step.tile),
       .kind = kindOf(x_.desc.dtype),
       .largest = largest_,
       .readsCandidates = from != nullptr,
       .alternates = step.alternates});
}

Result<Candidates> RowSort::select(int64_t k) const {
  Candidates from, to;
  for (int64_t given = rows_.extent;; given = to.perRow) {
    const int64_t tile = std::min(powerOfTwo(given), kTile), tiles = (given + tile - 1) / tile;
    OPKIT_ASSIGN(to, allocate(tiles * k));
    OPKIT_TRY(sort(from.ranks ? &from : nullptr, to,
                   {.given = given, .slots = tiles * tile, .tile = tile, .keep = k, .lastRun = tile}));
    if (tiles == 1) return to;
    from = to;
  }
}

Result<Candidates> RowSort::sortAll() const {
  using Swap = shaders::TopKSwap;
  const int64_t slots = powerOfTwo(rows_.extent), pairs = rows_.count() * slots / 2;
  OPKIT_ASSIGN(const Candidates all, allocate(slots));
  Step step{.given = rows_.extent, .slots = slots, .tile = kTile, .keep = kTile, .lastRun = kTile, .alternates = true};
  OPKIT_TRY(sort(nullptr, all, step));
  step.given = slots;
  for (int64_t run = 2 * kTile; run <= slots; run *= 2) {
    for (int64_t distance = run / 2; distance >= kTile; distance /= 2)
      OPKIT_TRY(encoder_.dispatch<Swap>(
          {*Swap::wordOfBytes(std::max<size_t>(sizeOf(x_.desc.dtype), 4))}, {.ranks = all.ranks, .places = all.places},
          {.pairs = pairs, .slots = slots, .run = run, .distance = distance}, vulkan::Items{pairs}));
    step.firstRun = static_cast<uint32_t>(run);
    step.lastRun = run;
    OPKIT_TRY(sort(&all, all, step));
  }
  return all;
}

}  // namespace opkit::ops::top_k
