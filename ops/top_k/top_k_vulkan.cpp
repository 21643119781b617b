// TopK on Vulkan. Work groups sort tiles of rows in shared memory. For small k each tile keeps its k best, until one
// tile is left; for large k the tiles are merged by a bitonic network over whole rows.
#include <bit>

#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/op_registry.h"
#include "engine/op/rows.h"
#include "ops/top_k/top_k_parts.h"
#include "shaders/top_k/top_k_sort.h"
#include "shaders/top_k/top_k_swap.h"
#include "shaders/top_k/top_k_take.h"

namespace opkit::ops::top_k {
namespace {

using Sort = shaders::TopKSort;
using vulkan::Encoder;

constexpr int64_t kTile = 1024;                              // as in top_k_sort.comp: what a group sorts
enum Kind : uint32_t { kUnsigned, kSigned, kFloat, kHalf };  // of the bits, as in top_k_sort.comp

Kind kindOf(DType dtype) {
  if (kFloats.contains(dtype)) return dtype == DType::Float16 ? kHalf : kFloat;
  constexpr DTypeSet kSignedTypes{DType::Int8, DType::Int16, DType::Int32, DType::Int64};
  return kSignedTypes.contains(dtype) ? kSigned : kUnsigned;
}

int64_t powerOfTwo(int64_t least) { return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(least))); }

/// Ranks and positions of the candidates, [rows, perRow].
struct Candidates {
  const Tensor* ranks = nullptr;
  const Tensor* places = nullptr;
  int64_t perRow = 0;
};

class TopKVulkan final : public vulkan::VulkanExecution {
 public:
  TopKVulkan(const CreateArgs& args, Backend& backend) : VulkanExecution(backend), params_(args.params<TopKParams>()) {}

  Status onEncode(TensorList inputs, TensorList outputs, Encoder& encoder) override {
    const Tensor& x = *inputs[0];
    const Rows rows = rowsAlong(x.desc.shape, params_.axis);
    const int64_t k = rowsAlong(outputs[0]->desc.shape, params_.axis).extent, count = outputs[0]->desc.elements();
    if (count == 0) return Status::ok();
    OPKIT_ASSIGN(const Candidates best,
                 2 * k <= kTile || rows.extent <= kTile ? select(x, rows, k, encoder) : sortAll(x, rows, encoder));
    using Take = shaders::TopKTake;
    return encoder.dispatch<Take>(
        {*Take::wordOfBytes(sizeOf(x.desc.dtype))},
        {.x = &x, .places = best.places, .values = outputs[0], .positions = outputs[1]},
        {.count = count, .extent = rows.extent, .inner = rows.inner, .k = k, .perRow = best.perRow},
        vulkan::Items{count});
  }

 private:
  /// What one dispatch of the sort does: reads `given` elements of each row, of `x` or of `from`, in `slots` slots.
  struct Step {
    int64_t given, slots, tile, keep;
    uint32_t firstRun = 2;
    int64_t lastRun = 0;
    bool alternates = false;  // tiles go up and down by turns, for merges
  };

  Result<Candidates> allocate(const Tensor& x, int64_t rows, int64_t perRow, Encoder& encoder) const {
    const int64_t words = sizeOf(x.desc.dtype) == 8 ? 2 : 1;
    OPKIT_ASSIGN(const Tensor* ranks, encoder.scratch({DType::UInt32, {rows, perRow, words}}));
    OPKIT_ASSIGN(const Tensor* places, encoder.scratch({DType::UInt32, {rows, perRow}}));
    return Candidates{ranks, places, perRow};
  }

  Status sort(const Tensor& x, const Rows& rows, const Candidates* from, const Candidates& to, const Step& step,
              Encoder& encoder) const {
    const Candidates& source = from ? *from : to;
    return encoder.dispatch<Sort>(
        {*Sort::wordOfBytes(sizeOf(x.desc.dtype))},
        {.x = &x, .ranks = source.ranks, .places = source.places, .newRanks = to.ranks, .newPlaces = to.places},
        {.rows = rows.count(),
         .extent = rows.extent,
         .inner = rows.inner,
         .given = step.given,
         .slots = step.slots,
         .keep = step.keep,
         .firstRun = step.firstRun,
         .lastRun = step.lastRun},
        vulkan::Items{(rows.count() * step.slots + kTile - 1) / kTile, kGroup},
        {.tile = static_cast<uint32_t>(step.tile),
         .kind = kindOf(x.desc.dtype),
         .largest = params_.largest,
         .readsCandidates = from != nullptr,
         .alternates = step.alternates});
  }

  /// Each tile keeps k; fewer tiles in each round.
  Result<Candidates> select(const Tensor& x, const Rows& rows, int64_t k, Encoder& encoder) const {
    Candidates from, to;
    for (int64_t given = rows.extent;; given = to.perRow) {
      const int64_t tile = std::min(powerOfTwo(given), kTile), tiles = (given + tile - 1) / tile;
      OPKIT_ASSIGN(to, allocate(x, rows.count(), tiles * k, encoder));
      OPKIT_TRY(sort(x, rows, from.ranks ? &from : nullptr, to,
                     {.given = given, .slots = tiles * tile, .tile = tile, .keep = k, .lastRun = tile}, encoder));
      if (tiles == 1) return to;
      from = to;
    }
  }

  /// A bitonic sort of whole rows; steps inside tiles share a dispatch.
  Result<Candidates> sortAll(const Tensor& x, const Rows& rows, Encoder& encoder) const {
    using Swap = shaders::TopKSwap;
    const int64_t slots = powerOfTwo(rows.extent), pairs = rows.count() * slots / 2;
    OPKIT_ASSIGN(const Candidates all, allocate(x, rows.count(), slots, encoder));
    Step step{.given = rows.extent, .slots = slots, .tile = kTile, .keep = kTile, .lastRun = kTile, .alternates = true};
    OPKIT_TRY(sort(x, rows, nullptr, all, step, encoder));
    step.given = slots;
    for (int64_t run = 2 * kTile; run <= slots; run *= 2) {
      for (int64_t distance = run / 2; distance >= kTile; distance /= 2)
        OPKIT_TRY(encoder.dispatch<Swap>(
            {*Swap::wordOfBytes(std::max<size_t>(sizeOf(x.desc.dtype), 4))}, {.ranks = all.ranks, .places = all.places},
            {.pairs = pairs, .slots = slots, .run = run, .distance = distance}, vulkan::Items{pairs}));
      step.firstRun = static_cast<uint32_t>(run);
      step.lastRun = run;
      OPKIT_TRY(sort(x, rows, &all, all, step, encoder));
    }
    return all;
  }

  static constexpr int64_t kGroup = 128;  // invocations of top_k_sort.comp

  TopKParamsT params_;
};

}  // namespace

void addVulkan(OpRegistry& registry) {
  registry.addCreator("vulkan", "TopK", vulkan::creatorOf<TopKVulkan>(vulkan::takeAll));
}

}  // namespace opkit::ops::top_k
