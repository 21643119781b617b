#include "engine/op/op_registry.h"
#include "ops/cast/cast_vulkan.h"
#include "ops/integer_matmul/scales_vulkan.h"
#include "shaders/integer_matmul/integer_matmul.h"

namespace opkit::ops::integer_matmul {
namespace {

using Shader = shaders::IntegerMatmul;

constexpr int64_t kTile = 4;  // rows and columns of an invocation

std::array<int64_t, 2> stepsOf(const Lines& lines) { return {lines.matrixStep, lines.step}; }

class IntegerMatMulVulkan final : public vulkan::VulkanExecution {
 public:
  IntegerMatMulVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend),
        roles_(rolesOf(args.def.type)),
        words_(args.device.byteDots ? Shader::Form::Dots : Shader::Form::Words) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const Tensor &a = *deviceInput(inputs, roles_.a), &b = *deviceInput(inputs, roles_.b), &y = *outputs[0];
    const Tensor* aZeroPoint = deviceInput(inputs, roles_.aZeroPoint);
    const Tensor* bZeroPoint = deviceInput(inputs, roles_.bZeroPoint);
    OPKIT_ASSIGN(const IntegerPlan plan, planIntegers(roles_, shapesOf(inputs)));
    if (y.desc.elements() == 0) return Status::ok();
    const matmul::MatMulPlan& product = plan.product;
    if (product.depth == 0 && !roles_.isQuantized()) return encoder.fillZero(y);
    OPKIT_ASSIGN(const DeviceScales scales, DeviceScales::of(roles_, inputs, b, encoder));
    std::vector<uint32_t> words;
    for (int64_t i = 0; i < product.batchCount(); ++i) {
      words.push_back(static_cast<uint32_t>(product.aMatrix(i)));
      words.push_back(static_cast<uint32_t>(product.bMatrix(i)));
    }
    OPKIT_ASSIGN(const Tensor* matrices, encoder.table(words));
    const bool inWords = product.depth % kTile == 0 && product.columns % kTile == 0 && product.depth > 0;
    const Shader::PushConstants push{.rows = product.rows,
                                     .columns = product.columns,
                                     .depth = product.depth,
                                     .products = product.batchCount(),
                                     .aFlip = signFlipOf(a),
                                     .bFlip = signFlipOf(b),
                                     .yFlip = flipOf(y),
                                     .hasAZeroPoint = aZeroPoint != nullptr,
                                     .hasBZeroPoint = bZeroPoint != nullptr,
                                     .aZeroSteps = stepsOf(plan.aZeroPoint),
                                     .bZeroSteps = stepsOf(plan.bZeroPoint),
                                     .aScaleSteps = stepsOf(plan.aScale),
                                     .bScaleSteps = stepsOf(plan.bScale)};
    const auto tiles = [](int64_t extent) { return (extent + kTile - 1) / kTile; };
    return encoder.dispatch<Shader>(
        {roles_.isQuantized() ? Shader::Y::U8 : Shader::Y::I32, inWords ? words_ : Shader::Form::Bytes},
        {.a = &a,
         .b = &b,
         .aZeroPoint = aZeroPoint ? aZeroPoint : &a,
         .bZeroPoint = bZeroPoint ? bZeroPoint : &b,
         .matrices = matrices,
         .aScale = scales.a,
         .bScale = scales.b,
         .yScale = scales.y,
         .yZeroPoint = scales.yZeroPoint,
         .y = &y},
        push, vulkan::Items{tiles(product.rows) * tiles(product.columns) * push.products});
  }

 private:
  const Roles& roles_;
  Shader::Form words_;  // where the sizes allow words
};

Status supports(const CreateArgs& args) {
  const Roles& roles = rolesOf(args.def.type);
  const int64_t depth = args.input(static_cast<size_t>(roles.a)).shape.back();
  return vulkan::requireLoops(args, vulkan::loopPasses({depth}) + vulkan::loopPasses({kTile, 2 * kTile}));
}

}  // namespace

const Tensor* deviceInput(TensorList inputs, int number) {
  const auto i = static_cast<size_t>(number);
  return number >= 0 && i < inputs.size() ? inputs[i] : nullptr;
}

int64_t flipOf(const Tensor& bytes) { return bytes.desc.dtype == DType::Int8 ? 128 : 0; }
int64_t signFlipOf(const Tensor& bytes) { return 128 - flipOf(bytes); }

Result<DeviceScales> DeviceScales::of(const Roles& roles, TensorList inputs, const Tensor& other,
                                      vulkan::Encoder& encoder) {
  if (!roles.isQuantized()) return DeviceScales{&other, &other, &other, &other};
  const auto asFloats = [&](int number) -> Result<const Tensor*> {
    const Tensor& scale = *deviceInput(inputs, number);
    if (scale.desc.dtype == DType::Float32) return &scale;
    OPKIT_ASSIGN(const Tensor* floats, encoder.scratch({DType::Float32, scale.desc.shape}));
    OPKIT_TRY(cast::encodeCast(scale, *floats, true, cast::RoundMode::up, encoder));
    return floats;
  };
  DeviceScales scales{};
  OPKIT_ASSIGN(scales.a, asFloats(roles.aScale));
  OPKIT_ASSIGN(scales.b, asFloats(roles.bScale));
  OPKIT_ASSIGN(scales.y, asFloats(roles.yScale));
  scales.yZeroPoint = deviceInput(inputs, roles.yZeroPoint);
  return scales;
}

void addVulkan(OpRegistry& registry) {
  for (const char* type : {"MatMulInteger", "QLinearMatMul"})
    registry.addCreator("vulkan", type, vulkan::creatorOf<IntegerMatMulVulkan>(supports));
}

}  // namespace opkit::ops::integer_matmul
