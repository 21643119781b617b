// Operators on the bits of elements: BitwiseNot is made of BitwiseXor, BitCast is a region.
#include "ops/bits/bits.h"
#include "engine/op/op_registry.h"
#include "engine/op/shape_rules.h"
#include "ops/bits/bits_parts.h"
#include "ops/cast/cast_schema.h"
#include "ops/parts.h"

namespace opkit::ops::bits {
namespace {

Status decomposeNot(const ShapeArgs& args, std::span<const TensorDesc>, Decomposition& parts) {
  OPKIT_ASSIGN(const Decomposition::Value ones, scalarOf(parts, args.input(0).dtype, -1));
  parts.setOutput(0, parts.add("BitwiseXor", {parts.input(0), ones}));
  return Status::ok();
}

/// Bools hold 0 or 1 alone, so that no other bits can become them.
Result<std::vector<TensorDesc>> bitCastRule(const ShapeArgs& args) {
  const auto to = static_cast<DType>(args.params<cast::CastParams>().to);
  const DType from = args.input(0).dtype;
  if (!isValidDType(static_cast<int>(to)) || !kMovedDTypes.contains(to) || to == DType::Bool)
    return Status::invalidArgument("to must be a type number in [1, 11], got {}", static_cast<int>(to));
  if (sizeOf(from) != sizeOf(to))
    return Status::invalidArgument("to must have the {} bytes of {}, got {}", sizeOf(from), nameOf(from), nameOf(to));
  return std::vector{TensorDesc{to, args.shape(0)}};
}

Result<std::vector<RegionList>> lowerBitCast(const ShapeArgs&, std::span<const TensorDesc> outputs) {
  return std::vector{RegionList{{contiguousRegion(0, 0, 0, outputs[0].elements())}}};
}

}  // namespace

void define(OpRegistry& registry) {
  registry.add({.type = "BitwiseNot",
                .summary = "each element with all bits turned",
                .inputs = {{"x", kIntegers}},
                .outputs = {{"y", kIntegers}},
                .inferShapes = likeFirstInput,
                .decompose = decomposeNot,
                .oracle = bitwiseNot});
  registry.add({.type = "BitCast",
                .summary = "the bits of each element, read as another type of the same size",
                .params = paramsSchema<cast::CastParams>(kCastSchema),
                .inputs = {{"x"}},
                .outputs = {{"y", kNumbers}},
                .inferShapes = bitCastRule,
                .lower = lowerBitCast,
                .oracle = bitCast});
}

}  // namespace opkit::ops::bits
