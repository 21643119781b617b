#include <array>

#include "engine/backend/vulkan/vulkan_execution.h"
#include "harness/testing/broken_kernels.h"

namespace opkit::harness {
namespace {

using vulkan::Access;

// Compiled by the build from testing/broken.comp.
constexpr uint32_t kSpirv[] = {
#include "harness/broken_spirv.inc"
};

constexpr std::array<Access, 4> kBindings = {Access::Read, Access::Write, Access::ReadWrite, Access::ReadWrite};

class BrokenVulkan final : public vulkan::VulkanExecution {
 public:
  BrokenVulkan(Break how, Backend& backend)
      : VulkanExecution(backend), how_(how), backend_(backend), zeros_(*Tensor::onHost({DType::Float32, {4}})) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const TensorDesc& desc = inputs[0]->desc;
    OPKIT_ASSIGN(const Tensor* work, encoder.scratch(desc));
    OPKIT_ASSIGN(constant_, vulkan::packConstant(backend_, zeros_, "zeros", [&] { return Result<Tensor>(zeros_); }));
    auto count = static_cast<uint32_t>(desc.elements());
    first_ = first_ == 0 ? count : first_;
    if (how_ == Break::KeepsStaleState) count = std::min(count, first_);
    const std::array<uint32_t, 3> all = {static_cast<uint32_t>(how_), count, 0};
    const std::span<const uint32_t> push = std::span(all).first(how_ == Break::BreaksVulkansRules ? 2 : 3);
    const auto pushBytes = static_cast<uint32_t>(push.size_bytes());
    const vulkan::ShaderCode code{"harness/broken", kSpirv, kBindings, pushBytes, 0, {64, 1, 1}};
    const std::array<const Tensor*, 4> tensors = {inputs[0], outputs[0], work, constant_.get()};
    return encoder.dispatchRaw(code, tensors, std::as_bytes(push), {}, {(count + 63) / 64, 1, 1});
  }

 private:
  Break how_;
  Backend& backend_;
  uint32_t first_ = 0;
  Tensor zeros_;
  std::shared_ptr<const Tensor> constant_;  // shared with the ConstantStore
};

/// Chooses between the right shader and one that flips the sign.
class BrokenAlternative final : public vulkan::VulkanExecution {
 public:
  explicit BrokenAlternative(Backend& backend)
      : VulkanExecution(backend), kernels_{{Break::Nothing, backend}, {Break::FlipsSign, backend}} {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const vulkan::Alternatives alternatives{"broken", 2, 0,
                                            [this](size_t choice, TensorList in, TensorList out, vulkan::Encoder& on) {
                                              return kernels_[choice].onEncode(in, out, on);
                                            }};
    OPKIT_ASSIGN(const size_t choice, encoder.choose(alternatives, inputs, outputs));
    return alternatives.encode(choice, inputs, outputs, encoder);
  }

 private:
  BrokenVulkan kernels_[2];
};

/// Keeps the first recording of an image kernel, whatever the later shapes.
class StaleImage final : public Execution {
 public:
  explicit StaleImage(std::unique_ptr<Execution> inner) : inner_(std::move(inner)) {}

  Result<size_t> scratchBytes(TensorList inputs, TensorList outputs) override {
    return inner_->scratchBytes(inputs, outputs);
  }
  Status onResize(TensorList inputs, TensorList outputs) override {
    return std::exchange(resized_, true) ? Status::ok() : inner_->onResize(inputs, outputs);
  }
  Status onExecute(TensorList inputs, TensorList outputs) override { return inner_->onExecute(inputs, outputs); }

 private:
  std::unique_ptr<Execution> inner_;
  bool resized_ = false;
};

}  // namespace

void addBrokenVulkan(OpRegistry& registry, Break how, const std::shared_ptr<Instances>& instances) {
  addBroken(registry, "vulkan", how, instances, [](Break what, Backend& backend) {
    return std::unique_ptr<Execution>(std::make_unique<BrokenVulkan>(what, backend));
  });
}

void addBrokenAlternative(OpRegistry& registry) {
  const auto create = [](const CreateArgs&, Backend& on) -> Result<std::unique_ptr<Execution>> {
    return std::unique_ptr<Execution>(std::make_unique<BrokenAlternative>(on));
  };
  registry.addFirstCreator("vulkan", "Relu",
                           {.provider = "broken",
                            .supports = [](const CreateArgs&) { return Status::ok(); },
                            .create = create,
                            .dtypes = DTypeSet(DType::Float32)});
}

void addStaleImageKernel(OpRegistry& registry, const std::string& op) {
  for (const Creator& creator : registry.creators("vulkan", op)) {
    if (creator.layout != Layout::NC4HW4) continue;
    Creator stale = creator;
    stale.provider = "stale";
    stale.create = [inner = creator.create](const CreateArgs& args,
                                            Backend& backend) -> Result<std::unique_ptr<Execution>> {
      OPKIT_ASSIGN(auto made, inner(args, backend));
      return std::unique_ptr<Execution>(std::make_unique<StaleImage>(std::move(made)));
    };
    return registry.addFirstCreator("vulkan", op, std::move(stale));
  }
}

}  // namespace opkit::harness
