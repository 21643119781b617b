#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/op_registry.h"
#include "ops/matmul_nbits/matmul_nbits.h"
#include "shaders/matmul_nbits/matmul_nbits.h"

namespace opkit::ops::matmul_nbits {
namespace {

using Shader = shaders::MatmulNbits;

constexpr int64_t kColumns = 4;  // of a team

class MatMulNBitsVulkan final : public vulkan::VulkanExecution {
 public:
  MatMulNBitsVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), params_(args.params<MatMulNBitsParams>()) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const Tensor &a = *inputs[kA], &weights = *inputs[kWeights], &y = *outputs[0];
    const Tensor* zeroPoints = has(inputs, kZeroPoints) ? inputs[kZeroPoints] : nullptr;
    const Tensor* bias = has(inputs, kBias) ? inputs[kBias] : nullptr;
    OPKIT_ASSIGN(const MatMulNBitsPlan plan,
                 planMatMulNBits(params_, a.desc.shape, weights.desc.shape, inputs[kScales]->desc.shape,
                                 zeroPoints ? &zeroPoints->desc.shape : nullptr, bias ? &bias->desc.shape : nullptr));
    if (y.desc.elements() == 0) return Status::ok();
    const int bits = bitsOf(weights.desc.dtype);
    const int64_t blockWords = plan.blockSize * bits / 32, words = plan.blocks * blockWords;
    const int64_t teams = plan.rows * ((plan.columns + kColumns - 1) / kColumns);
    const Shader::Bits variant = bits == 2 ? Shader::Bits::V2 : bits == 4 ? Shader::Bits::V4 : Shader::Bits::V8;
    return encoder.dispatch<Shader>({variant},
                                    {.a = &a,
                                     .codes = &weights,
                                     .scales = inputs[kScales],
                                     .zeroPoints = zeroPoints ? zeroPoints : &weights,
                                     .bias = bias ? bias : &a,
                                     .y = &y},
                                    {.teams = teams,
                                     .columns = plan.columns,
                                     .depth = plan.depth,
                                     .words = words,
                                     .blockWords = blockWords,
                                     .hasZeroPoints = zeroPoints != nullptr,
                                     .hasBias = bias != nullptr},
                                    vulkan::RowWork{.rows = teams, .extent = words}, {.byFours = plan.depth % 4 == 0});
  }

 private:
  MatMulNBitsParamsT params_;
};

}  // namespace

void addVulkan(OpRegistry& registry) {
  registry.addCreator("vulkan", "MatMulNBits", vulkan::creatorOf<MatMulNBitsVulkan>(vulkan::takeAll));
}

}  // namespace opkit::ops::matmul_nbits
