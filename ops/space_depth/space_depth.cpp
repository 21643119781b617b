// DepthToSpace and SpaceToDepth: blocks of pixels move into channels and back.
#include "ops/space_depth/space_depth.h"

#include "engine/op/op_registry.h"

namespace opkit::ops::space_depth {
namespace {

Status checkInput(const ShapeArgs& args) {
  const int block = args.params<SpaceDepthParams>().block;
  if (block < 1 || block > 1024) return Status::invalidArgument("block must be in [1, 1024], got {}", block);
  if (args.shape(0).size() != 4)
    return Status::invalidArgument("x must be [batch, channels, height, width], got {}", toString(args.shape(0)));
  return Status::ok();
}

Result<std::vector<TensorDesc>> depthToSpaceRule(const ShapeArgs& args) {
  OPKIT_TRY(checkInput(args));
  const int64_t block = args.params<SpaceDepthParams>().block;
  const Shape& from = args.shape(0);
  if (from[1] % (block * block) != 0)
    return Status::invalidArgument("channels must be a multiple of {}, got {}", block * block, from[1]);
  return std::vector{
      TensorDesc{args.input(0).dtype, {from[0], from[1] / (block * block), from[2] * block, from[3] * block}}};
}

Result<std::vector<TensorDesc>> spaceToDepthRule(const ShapeArgs& args) {
  OPKIT_TRY(checkInput(args));
  const int64_t block = args.params<SpaceDepthParams>().block;
  const Shape& from = args.shape(0);
  if (from[2] % block != 0 || from[3] % block != 0)
    return Status::invalidArgument("height and width must be multiples of {}, got {}", block, toString(from));
  return std::vector{
      TensorDesc{args.input(0).dtype, {from[0], from[1] * block * block, from[2] / block, from[3] / block}}};
}

/// Strides of a tensor along [batch, depth, block row, block column, height, width] (of the coarse image), if blocks
/// are in its channels (`deep` [batch, channels, height, width]) and if they are in its pixels.
std::vector<int64_t> stridesInChannels(const Shape& deep, int64_t block, Order order) {
  const DimVector strides = contiguousStrides(deep);
  const int64_t depth = deep[1] / (block * block), channel = strides[1];
  if (order == Order::DepthColumnRow)
    return {strides[0], channel, block * depth * channel, depth * channel, strides[2], strides[3]};
  return {strides[0], block * block * channel, block * channel, channel, strides[2], strides[3]};
}

std::vector<int64_t> stridesInPixels(const Shape& wide, int64_t block) {
  const DimVector strides = contiguousStrides(wide);
  return {strides[0], strides[1], strides[2], strides[3], block * strides[2], block * strides[3]};
}

Result<std::vector<RegionList>> lowerDepthToSpace(const ShapeArgs& args, std::span<const TensorDesc> outputs) {
  const auto params = args.params<SpaceDepthParams>();
  const Shape &deep = args.shape(0), &wide = outputs[0].shape;
  return std::vector{RegionList{{Region{0,
                                        0,
                                        0,
                                        {deep[0], wide[1], params.block, params.block, deep[2], deep[3]},
                                        stridesInChannels(deep, params.block, params.order),
                                        stridesInPixels(wide, params.block)}}}};
}

Result<std::vector<RegionList>> lowerSpaceToDepth(const ShapeArgs& args, std::span<const TensorDesc> outputs) {
  const auto params = args.params<SpaceDepthParams>();
  const Shape &wide = args.shape(0), &deep = outputs[0].shape;
  return std::vector{RegionList{{Region{0,
                                        0,
                                        0,
                                        {deep[0], wide[1], params.block, params.block, deep[2], deep[3]},
                                        stridesInPixels(wide, params.block),
                                        stridesInChannels(deep, params.block, params.order)}}}};
}

}  // namespace

void define(OpRegistry& registry) {
  const auto add = [&](const char* type, const char* summary, ShapeFn rule, LowerFn lower, OracleFn oracle) {
    registry.add({.type = type,
                  .summary = summary,
                  .params = paramsSchema<SpaceDepthParams>(kSpaceDepthSchema),
                  .inputs = {{"x"}},
                  .outputs = {{"y"}},
                  .inferShapes = std::move(rule),
                  .lower = std::move(lower),
                  .oracle = std::move(oracle)});
  };
  add("DepthToSpace", "moves channels into blocks of pixels", depthToSpaceRule, lowerDepthToSpace,
      depthToSpaceReference);
  add("SpaceToDepth", "moves blocks of pixels into channels", spaceToDepthRule, lowerSpaceToDepth,
      spaceToDepthReference);
}

}  // namespace opkit::ops::space_depth
