#include <cmath>
#include <memory>

#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/backend/vulkan/vulkan_image.h"
#include "engine/op/op_registry.h"
#include "ops/batch_norm/batch_norm_parts.h"
#include "shaders/batch_norm/batch_norm.h"
#include "shaders/batch_norm/batch_norm_image.h"

namespace opkit::ops::batch_norm {
namespace {

using Shader = shaders::BatchNorm;

// Elements, or vec4s, that share one load of the channel's factors. A vec4 of a GPU is a wide load by itself.
constexpr int64_t kRun = 8;
constexpr int64_t kRunOfFours = 4;

class BatchNormVulkan final : public vulkan::VulkanExecution {
 public:
  BatchNormVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), params_(args.params<BatchNormParams>()), caps_(args.device) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const Tensor& x = *inputs[0];
    const Shape& shape = x.desc.shape;
    if (x.desc.elements() == 0) return Status::ok();
    const int64_t channels = shape.size() > 1 ? shape[1] : 1;
    const int64_t elements = shape.size() > 1 ? elementCount(shape, 2, shape.size()) : 1;
    const bool texels = caps_.deviceClass->prefersTexels && elements % 4 == 0 &&
                        static_cast<uint64_t>(x.desc.elements()) / 4 <= caps_.maxTexels;
    const uint32_t width = texels ? 1 : vulkan::Elements{elements, elements % 4 == 0}.width(caps_);
    const int64_t inner = texels ? elements / 4 : elements / width;
    const int64_t run = width == 4 ? kRunOfFours : kRun;
    const int64_t stride = (inner + run - 1) / run;
    const int64_t count = shape[0] * (shape.size() > 1 ? channels : 1) * stride;
    return encoder.dispatch<Shader>(
        {*Shader::storageOf(outputs[0]->desc.dtype), *Shader::affineOf(inputs[1]->desc.dtype),
         *Shader::statisticOf(inputs[3]->desc.dtype), texels ? Shader::Read::Texel : Shader::Read::Ssbo,
         width == 4 ? Shader::Width::V4 : Shader::Width::V1},
        {.x = &x, .scale = inputs[1], .bias = inputs[2], .mean = inputs[3], .variance = inputs[4], .y = outputs[0]},
        {.count = count, .stride = stride, .inner = inner, .channels = channels, .epsilon = params_.epsilon},
        vulkan::Items{count});
  }

 private:
  BatchNormParamsT params_;
  DeviceCaps caps_;
};

/// The tensor that the image kernel reads, and the constants that identify it in the store's name: kept alive, so that
/// no others get their addresses.
struct ImageFactors {
  Tensor device;
  std::vector<Tensor> named;
};

size_t constantBytes(const ImageFactors& factors) { return factors.device.sizeBytes(); }

/// f32 with constant statistics, on an NC4HW4 image.
class BatchNormImageVulkan final : public vulkan::VulkanExecution {
 public:
  using Shader = shaders::BatchNormImage;

  BatchNormImageVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), backend_(backend), epsilon_(args.params<BatchNormParams>().epsilon) {
    for (size_t i = 1; i < 5; ++i) constants_.push_back(*args.constant(i));
  }

  bool readsInput(size_t index) const override { return index == 0; }

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const vulkan::ImageShape shape(outputs[0]->desc.shape);
    if (!factors_) {
      OPKIT_ASSIGN(factors_, backend_.constants().get<ImageFactors>(
                                 constants_[0], form(), [&] { return makeFactors(shape.channels, shape.blocks); }));
    }
    const DeviceCaps& caps = backend_.caps();
    const bool texels = caps.deviceClass->prefersTexels && static_cast<uint64_t>(3 * shape.blocks) <= caps.maxTexels;
    return encoder.dispatch<Shader>({texels ? Shader::Read::Texel : Shader::Read::Ssbo},
                                    {.x = inputs[0], .factors = &factors_->device, .y = outputs[0]},
                                    {.count = shape.texels(), .columns = shape.width, .blocks = shape.blocks},
                                    vulkan::Items{shape.texels()});
  }

 private:
  /// The store identifies an entry by one constant; this one is made from four, so its name includes the others.
  std::string form() const {
    std::string text = fmt::format("batch norm factors, epsilon {}", epsilon_);
    for (const Tensor& constant : constants_)
      text += fmt::format(" {}+{}", static_cast<const void*>(constant.buffer.get()), constant.offsetBytes);
    return text;
  }

  Result<ImageFactors> makeFactors(int64_t channels, int64_t blocks) const {
    OPKIT_ASSIGN(const Tensor host, pack(channels, blocks));
    ImageFactors made;
    made.device.desc = host.desc;
    made.named.assign(constants_.begin() + 1, constants_.end());
    OPKIT_ASSIGN(made.device.buffer, backend_.allocate(host.sizeBytes()));
    OPKIT_TRY(backend_.upload(host, made.device));
    return made;
  }

  /// Means of all channels, padded to blocks with zeros, then factors and biases likewise.
  Result<Tensor> pack(int64_t channels, int64_t blocks) const {
    OPKIT_ASSIGN(Tensor packed, Tensor::onHost({DType::Float32, {3 * blocks * 4}}));
    const auto scale = constants_[0].data<float>(), bias = constants_[1].data<float>();
    const auto mean = constants_[2].data<float>(), variance = constants_[3].data<float>();
    const auto to = packed.data<float>();
    const size_t part = static_cast<size_t>(blocks) * 4;
    for (size_t c = 0; c < static_cast<size_t>(channels); ++c) {
      to[c] = mean[c];
      to[part + c] = static_cast<float>(scale[c] / std::sqrt(static_cast<double>(variance[c]) + epsilon_));
      to[2 * part + c] = bias[c];
    }
    return packed;
  }

  Backend& backend_;
  double epsilon_;
  std::vector<Tensor> constants_;                // scale, bias, mean, variance
  std::shared_ptr<const ImageFactors> factors_;  // shared with every Execution on the same constants
};

/// Images stay images; a buffer is not converted for this.
Status supportsImage(const CreateArgs& args) {
  const TensorDesc* tensors[] = {&args.input(0)};
  OPKIT_TRY(vulkan::requireImages(args, tensors));
  if (args.layout(0) != Layout::NC4HW4) return Status::unsupported("BatchNormalization: the input is no image");
  for (size_t i = 0; i < 5; ++i) {
    if (args.input(i).dtype != DType::Float32)
      return Status::unsupported("BatchNormalization: the image kernel takes f32, got {}", nameOf(args.input(i).dtype));
    if (i > 0 && !args.constant(i))
      return Status::unsupported("BatchNormalization: the image kernel takes constant statistics");
  }
  return Status::ok();
}

Status supports(const CreateArgs& args) {
  for (size_t i = 0; i < args.inputs.size(); ++i) OPKIT_TRY(vulkan::requireStorage<Shader>(args, args.input(i).dtype));
  return Status::ok();
}

}  // namespace

void addVulkan(OpRegistry& registry) {
  registry.addCreator("vulkan", "BatchNormalization",
                      vulkan::creatorOf<BatchNormImageVulkan>(supportsImage, Layout::NC4HW4, "image"));
  registry.addCreator("vulkan", "BatchNormalization", vulkan::creatorOf<BatchNormVulkan>(supports));
}

}  // namespace opkit::ops::batch_norm
