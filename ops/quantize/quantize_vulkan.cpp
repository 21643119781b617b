// QuantizeLinear and DequantizeLinear on Vulkan: one dispatch for floats of 32 and 16 bits and integers. Other types
// are cast to or from f32 by a dispatch of Cast before or after it.
#include "engine/backend/vulkan/broadcast_work.h"
#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/op_registry.h"
#include "ops/cast/cast_vulkan.h"
#include "ops/cast/codes.h"
#include "ops/quantize/quantize.h"
#include "shaders/quantize/dequantize.h"
#include "shaders/quantize/quantize.h"

namespace opkit::ops::quantize {
namespace {

using Quantize = shaders::Quantize;
using Dequantize = shaders::Dequantize;

constexpr DTypeSet kDirect{DType::Float32, DType::Float16};

/// `x`, or its copy in f32.
Result<const Tensor*> asFloats(const Tensor& x, vulkan::Encoder& encoder) {
  if (x.desc.dtype == DType::Float32) return &x;
  OPKIT_ASSIGN(const Tensor* floats, encoder.scratch({DType::Float32, x.desc.shape}));
  OPKIT_TRY(cast::encodeCast(x, *floats, true, cast::RoundMode::up, encoder));
  return floats;
}

/// `x`, or a copy in which each element has a byte. f4e2m1 is not packed integers.
Result<const Tensor*> inWholeBytes(const Tensor* x, vulkan::Encoder& encoder) {
  if (!x || !isPacked(x->desc.dtype) || isFloat(x->desc.dtype)) return x;
  return cast::inBytes(*x, encoder);
}

/// The constant `rounding` of quantize.comp.
uint32_t roundingOf(DType precision) {
  if (precision == DType::Float16) return 1;
  return precision == DType::BFloat16 ? 2 : 0;
}

/// kAny, kOne or kFour of scales.glsl.
uint32_t formOf(const ScalePlan& plan) {
  if (plan.isSingle()) return 1;
  const int64_t run = plan.inner > 1 ? plan.inner : plan.extent;  // along which scales are alike or neighbours
  if (run % 4 != 0) return 0;
  if (plan.inner > 1) return plan.innerStep == 0 ? 1 : 2;
  if (plan.block == 1) return 2;
  return plan.block % 4 == 0 ? 1 : 0;
}

/// Fills the part of the push constants that scales.glsl declares.
template <class Push>
void setScales(const ScalePlan& plan, int64_t count, bool hasZeroPoint, Push& push) {
  push.count = count;
  push.hasZeroPoint = hasZeroPoint;
  push.steps = {plan.outerStep, plan.blockStep, plan.innerStep};
  push.divisors = {std::max<int64_t>(plan.inner, 1), std::max<int64_t>(plan.extent, 1), plan.block};
  for (size_t i = 0; i < 3; ++i) {
    const vulkan::Divisor divisor = vulkan::Divisor::of(push.divisors[i]);
    push.multipliers[i] = divisor.multiplier;
    push.shifts[i] = divisor.shift;
  }
}

class QuantizeVulkan final : public vulkan::VulkanExecution {
 public:
  QuantizeVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), params_(args.params<QuantizeParams>()) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const Tensor& y = *outputs[0];
    const bool isFloat = isCodedFloat(y.desc.dtype);  // by way of f32; the zero point names the type only
    const Tensor *x = inputs[0], *quotients = &y;
    if (!kDirect.contains(x->desc.dtype)) {
      OPKIT_ASSIGN(x, asFloats(*x, encoder));
    }
    OPKIT_ASSIGN(const Tensor* scale, asFloats(*inputs[1], encoder));
    const bool isDirect = !isFloat && !isPacked(y.desc.dtype);
    if (!isDirect) {
      const DType between = isFloat ? DType::Float32 : cast::unpackedOf(y.desc.dtype);
      OPKIT_ASSIGN(quotients, encoder.scratch({between, y.desc.shape}));
    }

    Quantize::PushConstants push{};
    const bool hasZeroPoint = has(inputs, 2) && !isFloat;
    OPKIT_ASSIGN(const Tensor* zeroPoint, inWholeBytes(hasZeroPoint ? inputs[2] : scale, encoder));
    OPKIT_ASSIGN(const ScalePlan plan,
                 planScales(inputs[0]->desc.shape, inputs[1]->desc.shape, params_.axis, params_.block_size));
    setScales(plan, inputs[0]->desc.elements(), hasZeroPoint, push);
    constexpr DTypeSet kSigned{DType::Int2, DType::Int4, DType::Int8, DType::Int16};
    const bool isSigned = kSigned.contains(y.desc.dtype);
    const int64_t values = int64_t{1} << bitsOf(y.desc.dtype);
    push.least = isSigned ? -values / 2 : 0;
    push.greatest = push.least + values - 1;
    const DType precision = realTypeOf(static_cast<int>(params_.precision), inputs[1]->desc.dtype);
    OPKIT_TRY(encoder.dispatch<Quantize>({*Quantize::fromOf(x->desc.dtype), *Quantize::toOf(quotients->desc.dtype)},
                                         {.x = x, .scale = scale, .zeroPoint = zeroPoint, .y = quotients}, push,
                                         vulkan::Elements{push.count},
                                         {.rounding = roundingOf(precision), .form = formOf(plan)}));
    if (isDirect) return Status::ok();
    return cast::encodeCast(*quotients, y, params_.saturate, cast::RoundMode::up, encoder);
  }

 private:
  QuantizeParamsT params_;
};

class DequantizeVulkan final : public vulkan::VulkanExecution {
 public:
  DequantizeVulkan(const CreateArgs& args, Backend& backend)
      : VulkanExecution(backend), params_(args.params<DequantizeParams>()) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const Tensor& y = *outputs[0];
    const bool isFloat = isCodedFloat(inputs[0]->desc.dtype), isDirect = kDirect.contains(y.desc.dtype);
    const Tensor *x = inputs[0], *floats = &y;
    if (isFloat) {
      OPKIT_ASSIGN(x, asFloats(*x, encoder));
    }
    OPKIT_ASSIGN(x, inWholeBytes(x, encoder));
    OPKIT_ASSIGN(const Tensor* scale, asFloats(*inputs[1], encoder));
    if (!isDirect) {
      OPKIT_ASSIGN(floats, encoder.scratch({DType::Float32, y.desc.shape}));
    }

    Dequantize::PushConstants push{};
    const bool hasZeroPoint = has(inputs, 2) && !isFloat;
    OPKIT_ASSIGN(const Tensor* zeroPoint, inWholeBytes(hasZeroPoint ? inputs[2] : scale, encoder));
    OPKIT_ASSIGN(const ScalePlan plan,
                 planScales(inputs[0]->desc.shape, inputs[1]->desc.shape, params_.axis, params_.block_size));
    setScales(plan, inputs[0]->desc.elements(), hasZeroPoint, push);
    OPKIT_TRY(encoder.dispatch<Dequantize>({*Dequantize::fromOf(x->desc.dtype), *Dequantize::toOf(floats->desc.dtype)},
                                           {.x = x, .scale = scale, .zeroPoint = zeroPoint, .y = floats}, push,
                                           vulkan::Elements{push.count}, {.form = formOf(plan)}));
    if (isDirect) return Status::ok();
    return cast::encodeCast(*floats, y, true, cast::RoundMode::up, encoder);
  }

 private:
  DequantizeParamsT params_;
};

}  // namespace

void addVulkan(OpRegistry& registry) {
  for (const auto& [type, base] :
       {std::pair{"QuantizeLinear", vulkan::creatorOf<QuantizeVulkan>(vulkan::takeAll)},
        std::pair{"DequantizeLinear", vulkan::creatorOf<DequantizeVulkan>(vulkan::takeAll)}}) {
    Creator creator = base;
    creator.dtypes = kEveryDType;  // the card says which
    registry.addCreator("vulkan", type, creator);
  }
}

}  // namespace opkit::ops::quantize
