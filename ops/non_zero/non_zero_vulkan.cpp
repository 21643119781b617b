#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/base/divide.h"
#include "engine/op/op_registry.h"
#include "ops/non_zero/non_zero_parts.h"
#include "shaders/non_zero/non_zero.h"

namespace opkit::ops::non_zero {
namespace {

using Shader = shaders::NonZero;

enum Stage : uint32_t { kCount, kWrite };  // of the shader

constexpr int64_t kMostParts = 512;  // every part reads the counts of all
constexpr int64_t kLeastLength = 1024;
constexpr int64_t kAlignment = 32;  // elements: parts begin at a sector
constexpr int64_t kRun = 5;         // of the shader: elements of an invocation in a tile

/// The bits of an element's highest word that tell whether it is zero.
uint32_t maskOf(DType dtype) {
  if (!isFloat(dtype)) return UINT32_MAX;
  return dtype == DType::Float16 ? 0x7FFF : 0x7FFFFFFF;
}

class NonZeroVulkan final : public vulkan::VulkanExecution {
 public:
  NonZeroVulkan(const CreateArgs&, Backend& backend) : VulkanExecution(backend) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const TensorDesc& x = inputs[0]->desc;
    const int64_t elements = x.elements();
    const int64_t length = ceilDiv(std::max(ceilDiv(elements, kMostParts), kLeastLength), kAlignment) * kAlignment;
    const int64_t parts = std::max<int64_t>(ceilDiv(elements, length), 1);  // one writes the count of an empty tensor
    std::vector<uint32_t> shape(x.shape.begin(), x.shape.end());
    if (shape.empty()) shape.push_back(1);  // a table needs a word; the kernel does not read it
    OPKIT_ASSIGN(const Tensor* table, encoder.table(shape));
    OPKIT_ASSIGN(const Tensor* counts, encoder.scratch({DType::UInt32, {parts}}));
    const Shader::Bindings tensors{
        .x = inputs[0], .shape = table, .counts = counts, .indices = outputs[0], .count = outputs[1]};
    const auto rank = static_cast<int64_t>(x.shape.size());
    const vulkan::RowWork work{
        .rows = parts,
        .extent = length,
        .elementBytes = static_cast<int64_t>(sizeOf(x.dtype)),
        .tileRun = kRun,
        .tilePasses = 3 * (kRun + 1) + vulkan::kScanPasses + vulkan::loopPasses({kRun, rank}) + kRun * (rank + 1)};
    for (const Stage stage : {kCount, kWrite})
      OPKIT_TRY(encoder.dispatch<Shader>(
          {*Shader::wordOfBytes(sizeOf(x.dtype))}, tensors,
          {.elements = elements, .parts = parts, .partLength = length, .rank = rank, .mask = maskOf(x.dtype)}, work,
          {.stage = stage}));
    return Status::ok();
  }
};

}  // namespace

void addVulkan(OpRegistry& registry) {
  registry.addCreator("vulkan", "NonZero", vulkan::creatorOf<NonZeroVulkan>(vulkan::takeAll));
}

}  // namespace opkit::ops::non_zero
