#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/op_registry.h"
#include "engine/tensor/float_format.h"
#include "ops/cast/cast.h"
#include "shaders/cast/cast.h"
#include "shaders/cast/cast_decode.h"
#include "shaders/cast/cast_encode.h"
#include "shaders/cast/cast_recode.h"

namespace opkit::ops::cast {
namespace {

using Shader = shaders::Cast;
using Decode = shaders::CastDecode;
using Encode = shaders::CastEncode;
using Recode = shaders::CastRecode;

/// The type that holds a code, which names the variant of a shader.
DType codeOf(DType coded) { return sizeOf(coded) == 1 ? DType::UInt8 : DType::UInt16; }

/// A FloatFormat as shaders/cast/codes.glsl takes it.
struct Codes {
  explicit Codes(const FloatFormat& format)
      : fractionBits(static_cast<uint32_t>(format.fractionBits)),
        bias(static_cast<uint32_t>(format.bias)),
        sign(format.signCode()),
        largest(format.largestCode()),
        special(format.specials == FloatFormat::Specials::Ieee ? format.largestCode() + 1 : format.nanCode()),
        nan(format.nanCode()) {}
  uint32_t fractionBits, bias, sign, largest, special, nan;
};

/// Cast and CastLike: the output gives the target dtype.
class CastVulkan final : public vulkan::VulkanExecution {
 public:
  CastVulkan(const CreateArgs& args, Backend& backend) : VulkanExecution(backend) {
    const auto params = args.params<CastParams>();
    // bf16 overflows to infinity in any case.
    saturate_ = params.saturate && args.outputs[0].dtype != DType::BFloat16;
    roundMode_ = static_cast<uint32_t>(params.round_mode);
  }

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    const DType from = inputs[0]->desc.dtype, to = outputs[0]->desc.dtype;
    if (isCodedFloat(from) && isCodedFloat(to)) return recode(*inputs[0], *outputs[0], encoder);
    if (isCodedFloat(from)) return decode(*inputs[0], *outputs[0], encoder);
    if (isCodedFloat(to)) return encode(*inputs[0], *outputs[0], encoder);
    const int64_t count = outputs[0]->desc.elements();
    return encoder.dispatch<Shader>({*Shader::fromOf(from), *Shader::toOf(to)}, {.x = inputs[0], .y = outputs[0]},
                                    {.count = count}, vulkan::Elements{count});
  }

 private:
  Status decode(const Tensor& x, const Tensor& y, vulkan::Encoder& encoder) const {
    const Codes codes(formatOf(x.desc.dtype));
    const int64_t count = y.desc.elements();
    return encoder.dispatch<Decode>({*Decode::codeOf(codeOf(x.desc.dtype)), *Decode::toOf(y.desc.dtype)},
                                    {.x = &x, .y = &y},
                                    {.count = count,
                                     .fractionBits = codes.fractionBits,
                                     .bias = codes.bias,
                                     .sign = codes.sign,
                                     .largest = codes.largest,
                                     .special = codes.special,
                                     .nan = codes.nan},
                                    vulkan::Elements{count});
  }

  Status encode(const Tensor& x, const Tensor& y, vulkan::Encoder& encoder) const {
    const Codes codes(formatOf(y.desc.dtype));
    const int64_t count = y.desc.elements();
    return encoder.dispatch<Encode>({*Encode::fromOf(x.desc.dtype), *Encode::codeOf(codeOf(y.desc.dtype))},
                                    {.x = &x, .y = &y},
                                    {.count = count,
                                     .fractionBits = codes.fractionBits,
                                     .bias = codes.bias,
                                     .sign = codes.sign,
                                     .largest = codes.largest,
                                     .special = codes.special,
                                     .nan = codes.nan,
                                     .saturate = saturate_,
                                     .roundMode = roundMode_},
                                    vulkan::Elements{count});
  }

  Status recode(const Tensor& x, const Tensor& y, vulkan::Encoder& encoder) const {
    const Codes from(formatOf(x.desc.dtype)), to(formatOf(y.desc.dtype));
    const int64_t count = y.desc.elements();
    return encoder.dispatch<Recode>({*Recode::fromOf(codeOf(x.desc.dtype)), *Recode::toOf(codeOf(y.desc.dtype))},
                                    {.x = &x, .y = &y},
                                    {.count = count,
                                     .fromFractionBits = from.fractionBits,
                                     .fromBias = from.bias,
                                     .fromSign = from.sign,
                                     .fromLargest = from.largest,
                                     .fromSpecial = from.special,
                                     .fromNan = from.nan,
                                     .fractionBits = to.fractionBits,
                                     .bias = to.bias,
                                     .sign = to.sign,
                                     .largest = to.largest,
                                     .special = to.special,
                                     .nan = to.nan,
                                     .saturate = saturate_,
                                     .roundMode = roundMode_},
                                    vulkan::Elements{count});
  }

  uint32_t saturate_ = 1, roundMode_ = 0;
};

Status supports(const CreateArgs& args) {
  for (const TensorDesc& desc : {args.input(0), args.outputs[0]})
    if (!isCodedFloat(desc.dtype) && !Shader::toOf(desc.dtype))
      return Status::unsupported("{}: the Vulkan kernel has no {} variant", args.def.type, nameOf(desc.dtype));
  return Status::ok();
}

}  // namespace

void addVulkan(OpRegistry& registry) {
  Creator creator = vulkan::creatorOf<CastVulkan>(supports);
  creator.dtypes = kMovedDTypes;  // supports() names the one that has no variant
  for (const char* type : {"Cast", "CastLike"}) registry.addCreator("vulkan", type, creator);
}

}  // namespace opkit::ops::cast
