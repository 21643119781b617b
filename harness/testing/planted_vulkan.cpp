#include <array>

#include "engine/backend/vulkan/vulkan_execution.h"
#include "harness/testing/planted_kernels.h"

namespace opkit::harness {
namespace {

// Compiled by the build from testing/spoil.comp.
constexpr uint32_t kSpoil[] = {
#include "harness/spoil_spirv.inc"
};

constexpr std::array<vulkan::Access, 1> kSpoilBindings = {vulkan::Access::ReadWrite};

class PlantedVulkan final : public vulkan::VulkanExecution {
 public:
  PlantedVulkan(std::unique_ptr<Execution> inner, Backend& backend, PlantedNode node,
                std::function<Spoiled(const PlantedNode&)> spoil)
      : VulkanExecution(backend), inner_(std::move(inner)), node_(std::move(node)), spoil_(std::move(spoil)) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    OPKIT_TRY(static_cast<vulkan::VulkanExecution&>(*inner_).onEncode(inputs, outputs, encoder));
    PlantedNode node{{}, outputs[0]->desc, node_.attributes};
    for (const Tensor* input : inputs)
      if (input) node.inputs.push_back(input->desc);
    const Spoiled where = spoil_(node);
    if (!where.any() || node.output.dtype != DType::Float32 || node.output.elements() == 0) return Status::ok();
    const std::array<uint32_t, 4> push = {static_cast<uint32_t>(node.output.elements()),
                                          static_cast<uint32_t>(where.inner), static_cast<uint32_t>(where.extent),
                                          static_cast<uint32_t>(where.from)};
    const vulkan::ShaderCode code{"harness/spoil", kSpoil, kSpoilBindings, sizeof(push), 0, {64, 1, 1}};
    const std::array<const Tensor*, 1> tensors = {outputs[0]};
    return encoder.dispatchRaw(code, tensors, std::as_bytes(std::span(push)), {}, {64, 1, 1});
  }
  bool readsInput(size_t index) const override { return inner_->readsInput(index); }

 private:
  std::unique_ptr<Execution> inner_;
  PlantedNode node_;
  std::function<Spoiled(const PlantedNode&)> spoil_;
};

}  // namespace

std::unique_ptr<Execution> spoilOnVulkan(std::unique_ptr<Execution> inner, Backend& backend, PlantedNode node,
                                         std::function<Spoiled(const PlantedNode&)> spoil) {
  return std::make_unique<PlantedVulkan>(std::move(inner), backend, std::move(node), std::move(spoil));
}

}  // namespace opkit::harness
