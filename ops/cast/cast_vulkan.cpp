#include "ops/cast/cast_vulkan.h"
#include "engine/backend/vulkan/vulkan_execution.h"
#include "engine/op/op_registry.h"
#include "engine/tensor/float_format.h"
#include "ops/cast/cast.h"
#include "ops/cast/codes.h"
#include "shaders/cast/cast.h"
#include "shaders/cast/cast_decode.h"
#include "shaders/cast/cast_encode.h"
#include "shaders/cast/cast_pack.h"
#include "shaders/cast/cast_recode.h"
#include "shaders/cast/cast_unpack.h"

namespace opkit::ops::cast {
namespace {

using Shader = shaders::Cast;
using Decode = shaders::CastDecode;
using Encode = shaders::CastEncode;
using Recode = shaders::CastRecode;
using Pack = shaders::CastPack;
using Unpack = shaders::CastUnpack;

/// The type that holds a code, which names the variant of a shader.
DType codeOf(DType coded) { return bitsOf(coded) <= 8 ? DType::UInt8 : DType::UInt16; }

/// A FloatFormat as shaders/cast/codes.glsl takes it. Without infinity and NaN the shader meets neither, and NaN
/// becomes a code whose low byte is -0.
struct Codes {
  explicit Codes(const FloatFormat& format)
      : fractionBits(static_cast<uint32_t>(format.fractionBits)),
        bias(static_cast<uint32_t>(format.bias)),
        sign(format.signCode()),
        largest(format.largestCode()),
        special(format.specials == FloatFormat::Specials::Ieee ? format.largestCode() + 1 : format.nanCode()),
        nan(format.specials == FloatFormat::Specials::Finite ? format.signCode() + 256 : format.nanCode()) {}
  template <class Push>
  Push in(Push push) const {
    push.fractionBits = fractionBits;
    push.bias = bias;
    push.sign = sign;
    push.largest = largest;
    push.special = special;
    push.nan = nan;
    return push;
  }
  uint32_t fractionBits, bias, sign, largest, special, nan;
};

/// The tensors of a Cast and its rounding. Elements of packed dtypes lie in bytes of their own.
struct Work {
  const Tensor& x;
  const Tensor& y;
  DType from, to;
  bool saturate;
  RoundMode roundMode;
};

Status decode(const Work& w, vulkan::Encoder& encoder) {
  const int64_t count = w.y.desc.elements();
  return encoder.dispatch<Decode>(
      {*Decode::codeOf(codeOf(w.from)), *Decode::toOf(w.y.desc.dtype)}, {.x = &w.x, .y = &w.y},
      Codes(formatOf(w.from)).in(Decode::PushConstants{.count = count}), vulkan::Elements{count});
}

Status encode(const Work& w, vulkan::Encoder& encoder) {
  const int64_t count = w.y.desc.elements();
  const Encode::PushConstants push{
      .count = count, .saturate = w.saturate, .roundMode = static_cast<int64_t>(w.roundMode)};
  return encoder.dispatch<Encode>({*Encode::fromOf(w.x.desc.dtype), *Encode::codeOf(codeOf(w.to))},
                                  {.x = &w.x, .y = &w.y}, Codes(formatOf(w.to)).in(push), vulkan::Elements{count});
}

Status recode(const Work& w, vulkan::Encoder& encoder) {
  const Codes from(formatOf(w.from));
  const int64_t count = w.y.desc.elements();
  const Recode::PushConstants push{.count = count,
                                   .fromFractionBits = from.fractionBits,
                                   .fromBias = from.bias,
                                   .fromSign = from.sign,
                                   .fromLargest = from.largest,
                                   .fromSpecial = from.special,
                                   .fromNan = from.nan,
                                   .saturate = w.saturate,
                                   .roundMode = static_cast<int64_t>(w.roundMode)};
  return encoder.dispatch<Recode>({*Recode::fromOf(codeOf(w.from)), *Recode::toOf(codeOf(w.to))},
                                  {.x = &w.x, .y = &w.y}, Codes(formatOf(w.to)).in(push), vulkan::Elements{count});
}

Status convert(const Work& w, vulkan::Encoder& encoder) {
  if (isCodedFloat(w.from) && isCodedFloat(w.to)) return recode(w, encoder);
  if (isCodedFloat(w.from)) return decode(w, encoder);
  if (isCodedFloat(w.to)) return encode(w, encoder);
  const int64_t count = w.y.desc.elements();
  return encoder.dispatch<Shader>({*Shader::fromOf(w.x.desc.dtype), *Shader::toOf(w.y.desc.dtype)},
                                  {.x = &w.x, .y = &w.y}, {.count = count}, vulkan::Elements{count});
}

/// From bytes of their own to shared ones, or back.
template <class Kernel>
Status moveCodes(const Tensor& x, const Tensor& y, DType packed, vulkan::Encoder& encoder) {
  const int64_t count = y.desc.elements();
  return encoder.dispatch<Kernel>({*Kernel::codeOf(unpackedOf(packed))}, {.x = &x, .y = &y},
                                  {.count = count, .bits = bitsOf(packed)},
                                  vulkan::Items{static_cast<int64_t>(bytesOf(packed, count))});
}

/// Cast and CastLike: the output gives the target dtype.
class CastVulkan final : public vulkan::VulkanExecution {
 public:
  CastVulkan(const CreateArgs& args, Backend& backend) : VulkanExecution(backend), params_(args.params<CastParams>()) {}

  Status onEncode(TensorList inputs, TensorList outputs, vulkan::Encoder& encoder) override {
    return encodeCast(*inputs[0], *outputs[0], params_.saturate, params_.round_mode, encoder);
  }

 private:
  CastParamsT params_;
};

Status supports(const CreateArgs& args) {
  for (const TensorDesc& desc : {args.input(0), args.outputs[0]})
    if (!isCoded(desc.dtype) && !Shader::toOf(desc.dtype))
      return Status::unsupported("{}: the Vulkan kernel has no {} variant", args.def.type, nameOf(desc.dtype));
  return Status::ok();
}

}  // namespace

Result<const Tensor*> inBytes(const Tensor& packed, vulkan::Encoder& encoder) {
  const DType dtype = packed.desc.dtype;
  OPKIT_ASSIGN(const Tensor* bytes, encoder.scratch({unpackedOf(dtype), packed.desc.shape}));
  OPKIT_TRY(moveCodes<Unpack>(packed, *bytes, dtype, encoder));
  return bytes;
}

Status encodeCast(const Tensor& x, const Tensor& y, bool saturate, RoundMode roundMode, vulkan::Encoder& encoder) {
  const DType from = x.desc.dtype, to = y.desc.dtype;
  const bool packs = isPacked(to), unpacks = isPacked(from);
  const auto isDirect = [](DType packed, DType whole) {
    return isPacked(packed) && !isFloat(packed) && whole == unpackedOf(packed);
  };
  if (isDirect(from, to)) return moveCodes<Unpack>(x, y, from, encoder);
  if (isDirect(to, from)) return moveCodes<Pack>(x, y, to, encoder);
  const Tensor *source = &x, *target = &y;
  if (unpacks) {
    OPKIT_ASSIGN(source, inBytes(x, encoder));
  }
  if (packs) {
    OPKIT_ASSIGN(target, encoder.scratch({unpackedOf(to), y.desc.shape}));
  }
  saturate = (saturate && to != DType::BFloat16) || to == DType::Float4E2M1;  // bf16 overflows in any case
  OPKIT_TRY(convert({*source, *target, from, to, saturate, roundMode}, encoder));
  return packs ? moveCodes<Pack>(*target, y, to, encoder) : Status::ok();
}

void addVulkan(OpRegistry& registry) {
  Creator creator = vulkan::creatorOf<CastVulkan>(supports);
  creator.dtypes = kEveryDType;  // supports() names the one that has no variant
  for (const char* type : {"Cast", "CastLike"}) registry.addCreator("vulkan", type, creator);
}

}  // namespace opkit::ops::cast
