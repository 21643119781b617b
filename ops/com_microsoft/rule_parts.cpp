#include "ops/com_microsoft/rule_parts.h"

#include "ops/concat/concat_generated.h"
#include "ops/gather/gather_generated.h"
#include "ops/shape/shape_generated.h"
#include "ops/split/split_generated.h"
#include "ops/transpose/transpose_generated.h"

namespace opkit::ops::com_microsoft {

TensorId RuleParts::cast(TensorId x, cast::ElementType to) {
  cast::CastParamsT params;
  params.to = to;
  return node_.emitIntermediate("Cast", {x}, packParams(params));
}

TensorId RuleParts::extents(TensorId x, int begin, int end) {
  shape::ShapeParamsT params;
  params.start = begin;
  params.end = end;
  return node_.emitIntermediate("Shape", {x}, packParams(params));
}

TensorId RuleParts::countedTo(TensorId limit) { return node_.emitIntermediate("Range", {list({0}), limit, list({1})}); }

TensorId RuleParts::joined(std::vector<TensorId> lists, int axis) {
  concat::ConcatParamsT params;
  params.axis = axis;
  return node_.emitIntermediate("Concat", std::move(lists), packParams(params));
}

TensorId RuleParts::transposed(TensorId x, std::vector<int> perm) {
  transpose::TransposeParamsT params;
  params.perm = std::move(perm);
  return node_.emitIntermediate("Transpose", {x}, packParams(params));
}

TensorId RuleParts::gathered(TensorId data, TensorId indices) {
  return node_.emitIntermediate("Gather", {data, indices}, packParams(gather::GatherParamsT()));
}

TensorId RuleParts::sliced(TensorId x, TensorId begin, TensorId end, int64_t axis) {
  return node_.emitIntermediate("Slice", {x, begin, end, list({axis})});
}

std::vector<TensorId> RuleParts::split(TensorId x, int64_t axis, const std::vector<int64_t>& sizes) {
  split::SplitParamsT params;
  params.axis = static_cast<int>(axis);
  return node_.emitIntermediates("Split", {x, list(sizes)}, sizes.size(), packParams(params));
}

std::vector<TensorId> RuleParts::split(TensorId x, int64_t axis, size_t count) {
  split::SplitParamsT params;
  params.axis = static_cast<int>(axis);
  return node_.emitIntermediates("Split", {x}, count, packParams(params));
}

TensorId RuleParts::unpacked(TensorId bytes, int bits) {
  if (bits == 8) return bytes;
  std::vector<uint8_t> shifts;
  for (int shift = 0; shift < 8; shift += bits) shifts.push_back(static_cast<uint8_t>(shift));
  const auto bytesOf = [&](const std::vector<uint8_t>& values) {
    const auto count = static_cast<int64_t>(values.size());
    return node_.addConstant("codes", *Tensor::fromValues<uint8_t>({DType::UInt8, {count}}, values));
  };
  const TensorId shifted = pair("ShiftRight", unsqueezed(bytes, -1), bytesOf(shifts));
  const TensorId codes = pair("BitwiseAnd", shifted, bytesOf({static_cast<uint8_t>((1 << bits) - 1)}));
  return reshaped(codes, joined({extents(bytes, 0, -1), list({-1})}));
}

}  // namespace opkit::ops::com_microsoft
