#include "engine/backend/vulkan/vulkan_scatter.h"

#include <bit>

#include "engine/backend/vulkan/loop_table.h"
#include "shaders/loop/loop_combine.h"
#include "shaders/loop/loop_place.h"
#include "shaders/loop/loop_sort.h"
#include "shaders/loop/loop_sort_tile.h"
#include "shaders/loop/loop_take.h"

namespace opkit::vulkan {
namespace {

using Place = shaders::LoopPlace;

/// Elements that an update moves together: the whole box where every update writes one run of the target that begins at
/// a multiple of its length; else 1.
int64_t blockOf(const LoopRegion& loop) {
  if (loop.size.size() != 1 || loop.target.strides[0] != 1) return 1;
  const int64_t length = loop.size[0];
  const auto isMultiple = [&](int64_t value) { return value % length == 0; };
  const bool fits = isMultiple(loop.target.offset) && std::ranges::all_of(loop.target.steps, isMultiple) &&
                    std::ranges::all_of(loop.indices.terms, isMultiple, &LoopIndices::Term::stride);
  return fits ? length : 1;
}

/// The tensors and figures that every step takes.
struct Scatter {
  const LoopRegion& loop;
  const Tensor& base;
  const Tensor& updates;
  const Tensor& indices;
  const Tensor& output;
  const Tensor* table;
  int64_t block = blockOf(loop);
  int64_t items = elementCount(loop.iterations) * elementCount(loop.size) / block;  // in the order of the iterations
  uint32_t rank = static_cast<uint32_t>(loop.iterations.size() + loop.size.size());
};

/// The dtype whose arithmetic combines: bools are the bytes 0 and 1.
DType combinedAs(DType dtype) { return dtype == DType::Bool ? DType::UInt8 : dtype; }

/// `slots`: as many as items, or more, which are filled up.
Status place(const Scatter& s, Place::Keep keep, const Tensor* places, int64_t slots, const std::string& type,
             Encoder& encoder) {
  const auto terms = static_cast<int64_t>(s.loop.indices.terms.size());
  OPKIT_ASSIGN(const Tensor* bad,
               encoder.report(2 * std::max<int64_t>(terms, 1), explainIndices(type, s.loop.indices)));
  return encoder.dispatch<Place>({keep}, {.table = s.table, .indices = &s.indices, .places = places, .bad = bad},
                                 {.items = s.items,
                                  .slots = slots,
                                  .indexWords = static_cast<int64_t>(sizeOf(s.indices.desc.dtype) / 4),
                                  .offset = s.loop.target.offset,
                                  .block = s.block},
                                 Items{slots}, {.rank = s.rank, .terms = static_cast<uint32_t>(terms)});
}

Status encodeReplace(const Scatter& s, Encoder& encoder, const std::string& type) {
  using Shader = shaders::LoopTake;
  const int64_t count = s.output.desc.elements();
  OPKIT_ASSIGN(const Tensor* owners, encoder.scratch({DType::UInt32, {count / s.block}}));
  OPKIT_TRY(encoder.fillZero(*owners));
  OPKIT_TRY(place(s, Place::Keep::Last, owners, s.items, type, encoder));
  return encoder.dispatch<Shader>(
      {*Shader::wordOfBytes(sizeOf(s.output.desc.dtype))},
      {.table = s.table, .base = &s.base, .x = &s.updates, .owners = owners, .y = &s.output},
      {.count = count, .sourceOffset = s.loop.operands[0].offset, .block = s.block}, Items{count}, {.rank = s.rank});
}

constexpr int64_t kTile = 1024;  // pairs that loop_sort_tile.comp sorts in shared memory
constexpr int64_t kTileInvocations = 128;

Status sortTiles(const Tensor* places, int64_t slots, int64_t firstRun, int64_t lastRun, Encoder& encoder) {
  return encoder.dispatch<shaders::LoopSortTile>({}, {.places = places},
                                                 {.slots = slots, .firstRun = firstRun, .lastRun = lastRun},
                                                 Items{(slots + kTile - 1) / kTile, kTileInvocations});
}

/// A bitonic network: the same comparisons whatever the data, so that equal keys end in the same order in every run.
/// `slots` is a power of two.
Status sort(const Tensor* places, int64_t slots, Encoder& encoder) {
  OPKIT_TRY(sortTiles(places, slots, 2, std::min(slots, kTile), encoder));
  for (int64_t run = 2 * kTile; run <= slots; run *= 2) {
    for (int64_t distance = run / 2; distance >= kTile; distance /= 2)
      OPKIT_TRY(encoder.dispatch<shaders::LoopSort>(
          {}, {.places = places}, {.slots = slots, .run = run, .distance = distance}, Items{slots / 2}));
    OPKIT_TRY(sortTiles(places, slots, run, run, encoder));
  }
  return Status::ok();
}

Status encodeCombine(const Scatter& s, Encoder& encoder, const std::string& type) {
  using Shader = shaders::LoopCombine;
  const int64_t count = s.output.desc.elements();
  const auto slots = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(s.items) + 1));  // one is of no element
  OPKIT_ASSIGN(const Tensor* places, encoder.scratch({DType::UInt32, {slots, 2}}));
  OPKIT_TRY(place(s, Place::Keep::All, places, slots, type, encoder));
  OPKIT_TRY(sort(places, slots, encoder));
  return encoder.dispatch<Shader>(
      {*Shader::storageOf(combinedAs(s.output.desc.dtype))},
      {.table = s.table, .base = &s.base, .x = &s.updates, .places = places, .y = &s.output},
      {.count = count, .items = s.items, .sourceOffset = s.loop.operands[0].offset, .block = s.block}, Items{count},
      {.rank = s.rank, .combine = static_cast<uint32_t>(s.loop.combine)});
}

}  // namespace

Status supportsScatter(const LoopRegion& loop, const CreateArgs& args) {
  OPKIT_TRY(checkTerms(loop, args));
  if (loop.combine == Combine::Replace) return Status::ok();
  OPKIT_TRY(requireStorage<shaders::LoopCombine>(args, combinedAs(args.outputs[0].dtype)));
  // The search for the first of an element's updates, then all of them if they meet there.
  constexpr int64_t kSearch = 33;
  return requireLoops(args, loopPasses({kSearch}) + loopPasses({elementCount(loop.iterations)}));
}

Status encodeScatter(const LoopRegion& loop, TensorList inputs, const Tensor& output, Encoder& encoder,
                     const std::string& type) {
  const auto input = [&](int index) -> const Tensor& { return *inputs[static_cast<size_t>(index)]; };
  const Tensor& updates = input(loop.operands[0].source);
  const Tensor& indices = loop.indices.terms.empty() ? updates : input(loop.indices.source);
  if (elementCount(loop.iterations) * elementCount(loop.size) == 0) {
    const ByteRun whole{.sizeBytes = output.sizeBytes()};
    return encoder.copyRuns(input(loop.base), output, {&whole, 1});
  }
  OPKIT_ASSIGN(const Tensor* table, encoder.table(tableOfBoxes(loop)));
  const Scatter scatter{loop, input(loop.base), updates, indices, output, table};
  return loop.combine == Combine::Replace ? encodeReplace(scatter, encoder, type)
                                          : encodeCombine(scatter, encoder, type);
}

}  // namespace opkit::vulkan
