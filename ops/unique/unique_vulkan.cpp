// Unique on Vulkan: elements are sorted as TopK sorts rows, slices of several elements by a network that compares them.
// Two scans number what differs from its neighbour and, unsorted, what comes first.
#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/base/divide.h"
#include "engine/op/op_registry.h"
#include "ops/top_k/row_sort_vulkan.h"
#include "ops/unique/unique.h"
#include "shaders/unique/unique_finish.h"
#include "shaders/unique/unique_number.h"
#include "shaders/unique/unique_order.h"
#include "shaders/unique/unique_take.h"

namespace opkit::ops::unique {
namespace {

using vulkan::Encoder;

enum Stage : uint32_t { kCountHeads, kWriteHeads, kCountFirsts, kWriteFirsts };  // of unique_number.comp

constexpr int64_t kMostParts = 512;  // every part reads the counts of all
constexpr int64_t kLeastLength = 1024;

/// The parts of a scan over the slices, as rows. Equal slices are compared to their last element.
vulkan::RowWork partsOf(const Rows& rows) {
  const int64_t length = std::max(ceilDiv(rows.extent, kMostParts), kLeastLength);
  return {.rows = ceilDiv(rows.extent, length),
          .extent = length,
          .tileRun = 1,
          .tilePasses = vulkan::loopPasses({rows.outer * rows.inner}) + vulkan::kScanPasses};
}

class UniqueVulkan final : public vulkan::VulkanExecution {
 public:
  UniqueVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), params_(args.params<UniqueParams>()) {}

  Status onEncode(TensorList inputs, TensorList outputs, Encoder& encoder) override {
    const Tensor& x = *inputs[0];
    const Rows rows = slicesOf(params_, x.desc.shape);
    if (rows.extent == 0) return encoder.fillZero(*outputs[4]);
    OPKIT_ASSIGN(const Tensor* places, order(x, rows, encoder));
    const TensorDesc list{DType::UInt32, {rows.extent + 1}};
    OPKIT_ASSIGN(const Tensor* groups, encoder.scratch(list));
    OPKIT_ASSIGN(const Tensor* firsts, encoder.scratch(list));
    OPKIT_ASSIGN(const Tensor* starts, encoder.scratch(list));
    OPKIT_ASSIGN(const Tensor* numbers, encoder.scratch(list));
    const Lists lists{groups, firsts, starts, numbers};
    OPKIT_TRY(number(x, rows, places, lists, outputs, encoder));
    using Finish = shaders::UniqueFinish;
    OPKIT_TRY(encoder.dispatch<Finish>({},
                                       {.groups = groups,
                                        .firsts = firsts,
                                        .starts = starts,
                                        .numbers = numbers,
                                        .count = outputs[4],
                                        .indices = outputs[1],
                                        .inverse = outputs[2],
                                        .counts = outputs[3]},
                                       {.slices = rows.extent}, vulkan::Items{rows.extent},
                                       {.sorted = params_.sorted}));
    using Take = shaders::UniqueTake;
    const int64_t elements = outputs[0]->desc.elements();
    return encoder.dispatch<Take>({*Take::wordOfBytes(sizeOf(x.desc.dtype))},
                                  {.x = &x, .indices = outputs[1], .count = outputs[4], .y = outputs[0]},
                                  {.elements = elements, .extent = rows.extent, .inner = rows.inner},
                                  vulkan::Items{elements});
  }

 private:
  /// Of unique_number.comp: per slice which of the different ones it is; per one of these its first slice, its place in
  /// the order, its number in the output.
  struct Lists {
    const Tensor *groups, *firsts, *starts, *numbers;
  };

  /// The positions of the slices in ascending order, equal ones by position.
  static Result<const Tensor*> order(const Tensor& x, const Rows& rows, Encoder& encoder) {
    const int64_t elements = rows.outer * rows.inner;
    if (elements == 1) {
      OPKIT_ASSIGN(const top_k::Candidates sorted,
                   top_k::RowSort(x, {1, rows.extent, 1}, false, encoder).best(rows.extent));
      return sorted.places;
    }
    using Order = shaders::UniqueOrder;
    const int64_t slots = top_k::powerOfTwo(rows.extent);
    OPKIT_ASSIGN(const Tensor* places, encoder.scratch({DType::UInt32, {slots}}));
    bool isFirst = true;
    for (int64_t run = 2; run <= std::max<int64_t>(slots, 2); run *= 2)
      for (int64_t distance = run / 2; distance > 0; distance /= 2) {
        OPKIT_TRY(encoder.dispatch<Order>({*Order::wordOfBytes(sizeOf(x.desc.dtype))}, {.x = &x, .places = places},
                                          {.slots = slots,
                                           .slices = rows.extent,
                                           .elements = elements,
                                           .inner = rows.inner,
                                           .run = run,
                                           .distance = distance},
                                          vulkan::Items{std::max<int64_t>(slots / 2, 1)},
                                          {.kind = top_k::kindOf(x.desc.dtype), .starts = isFirst}));
        isFirst = false;
      }
    return places;
  }

  Status number(const Tensor& x, const Rows& rows, const Tensor* places, const Lists& lists, TensorList outputs,
                Encoder& encoder) const {
    using Number = shaders::UniqueNumber;
    const vulkan::RowWork work = partsOf(rows);
    OPKIT_ASSIGN(const Tensor* counts, encoder.scratch({DType::UInt32, {work.rows}}));
    for (const Stage stage : {kCountHeads, kWriteHeads, kCountFirsts, kWriteFirsts}) {
      if (params_.sorted && stage >= kCountFirsts) break;
      OPKIT_TRY(encoder.dispatch<Number>({*Number::wordOfBytes(sizeOf(x.desc.dtype))},
                                         {.x = &x,
                                          .places = places,
                                          .partCounts = counts,
                                          .groups = lists.groups,
                                          .firsts = lists.firsts,
                                          .starts = lists.starts,
                                          .numbers = lists.numbers,
                                          .count = outputs[4]},
                                         {.slices = rows.extent,
                                          .elements = rows.outer * rows.inner,
                                          .inner = rows.inner,
                                          .parts = work.rows,
                                          .partLength = work.extent},
                                         work, {.kind = top_k::kindOf(x.desc.dtype), .stage = stage}));
    }
    return Status::ok();
  }

  UniqueParamsT params_;
};

Status supports(const CreateArgs& args) {
  const Rows rows = slicesOf(args.params<UniqueParams>(), args.input(0).shape);
  OPKIT_TRY(vulkan::requireLoops(args, std::max(top_k::kSortPasses, rows.outer * rows.inner + 1)));
  return vulkan::RowTeam::of(partsOf(rows), args.device).check(partsOf(rows), args.device, "Unique");
}

}  // namespace

void addVulkan(OpRegistry& registry) {
  registry.addCreator("vulkan", "Unique", vulkan::creatorOf<UniqueVulkan>(supports));
}

}  // namespace opkit::ops::unique
