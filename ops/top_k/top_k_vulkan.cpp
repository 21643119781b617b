// TopK on Vulkan. Work groups sort tiles of rows in shared memory. For small k each tile keeps its k best, until one
// tile is left; for large k the tiles are merged by a bitonic network over whole rows (row_sort_vulkan.h).
#include "engine/op/op_registry.h"
#include "ops/top_k/row_sort_vulkan.h"
#include "ops/top_k/top_k_parts.h"
#include "shaders/top_k/top_k_take.h"

namespace opkit::ops::top_k {
namespace {

class TopKVulkan final : public vulkan::VulkanExecution {
 public:
  TopKVulkan(const CreateArgs& args, Backend& backend) : VulkanExecution(backend), params_(args.params<TopKParams>()) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const Tensor& x = *inputs[0];
    const Rows rows = rowsAlong(x.desc.shape, params_.axis);
    const int64_t k = rowsAlong(outputs[0]->desc.shape, params_.axis).extent, count = outputs[0]->desc.elements();
    if (count == 0) return Status::ok();
    OPKIT_ASSIGN(const Candidates best, RowSort(x, rows, params_.largest, encoder).best(k));
    using Take = shaders::TopKTake;
    return encoder.dispatch<Take>(
        {*Take::wordOfBytes(sizeOf(x.desc.dtype))},
        {.x = &x, .places = best.places, .values = outputs[0], .positions = outputs[1]},
        {.count = count, .extent = rows.extent, .inner = rows.inner, .k = k, .perRow = best.perRow},
        vulkan::Items{count});
  }

 private:
  TopKParamsT params_;
};

}  // namespace

void addVulkan(OpRegistry& registry) {
  const auto supports = [](const CreateArgs& args) { return vulkan::requireLoops(args, kSortPasses); };
  registry.addCreator("vulkan", "TopK", vulkan::creatorOf<TopKVulkan>(supports));
}

}  // namespace opkit::ops::top_k
