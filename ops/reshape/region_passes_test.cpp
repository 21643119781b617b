// The passes fuse-regions and view-ranges on graphs that nearly let a tensor vanish. For drawn chains see
// region_fusion_test.cpp.
#include "ops/cast/cast_generated.h"
#include "ops/concat/concat_generated.h"
#include "ops/pass_test_support.h"
#include "ops/transpose/transpose_generated.h"

namespace opkit::ops::reshape {
namespace {

TensorId transposed(PassNet& net, TensorId x, std::vector<int> perm) {
  transpose::TransposeParamsT params;
  params.perm = std::move(perm);
  return net.node("Transpose", {x}, packParams(params));
}

TensorId bitsAs(PassNet& net, TensorId x, cast::ElementType type) {
  cast::CastParamsT params;
  params.to = type;
  return net.node("BitCast", {x}, packParams(params));
}

TensorId joined(PassNet& net, std::vector<TensorId> parts, int axis) {
  concat::ConcatParamsT params;
  params.axis = axis;
  return net.node("Concat", std::move(parts), packParams(params));
}

using RegionPasses = PassTest;

/// By zeros without `value`; negative pads cut off.
TensorId padded(PassNet& net, TensorId x, TensorId value, const std::vector<int64_t>& pads = {1, 2}) {
  std::vector<TensorId> operands{x, net.list(pads)};
  if (value) operands.push_back(value);
  return net.node("Pad", operands);
}

/// Two paddings in a row, by zeros, by constants or by an element of the padded tensor.
TEST_F(RegionPasses, FillsThatDiffer) {
  for (int first = -1; first < 3; ++first) {
    for (int second = -1; second < 4; ++second) {
      PassNet net;
      const TensorId x = net.node("Neg", {net.input(drawnTensor({4}, -9, 9, 1))});
      const TensorId fills[] = {net.constant(tensorOf({}, {5})), net.constant(tensorOf({}, {6})),
                                net.input(tensorOf({}, {7}))};
      const TensorId inner = padded(net, x, first < 0 ? TensorId() : fills[first]);
      const TensorId own = net.node("Squeeze", {net.node("Slice", {inner, net.list({2}), net.list({3})})});
      net.model.outputs = {padded(net, inner, second < 0 ? TensorId() : second == 3 ? own : fills[second])};
      expectMeaning(net, 0, fmt::format("fills {} and {}", first, second));
    }
  }
}

/// Tensors of no elements between others, crops and repetitions.
TEST_F(RegionPasses, NothingCropsAndRepeats) {
  PassNet net;
  const TensorId x = net.node("Neg", {net.input(drawnTensor({3, 4}, -9, 9, 1))});
  const TensorId turned = transposed(net, x, {1, 0});
  const TensorId nothing = net.node("Slice", {turned, net.list({2}), net.list({2})});
  const TensorId five = net.constant(tensorOf({}, {5}));
  const TensorId filled = padded(net, nothing, five, {1, 0, 1, 0});  // [2, 3], all fives
  const TensorId rows = joined(net, {nothing, turned, filled}, 0);   // [6, 3]
  const TensorId cropped = padded(net, rows, five, {-1, 1, -2, -1});
  const TensorId tiled = net.node("Tile", {cropped, net.list({2, 2})});
  net.model.outputs = {net.node("Neg", {tiled}), transposed(net, tiled, {1, 0}), padded(net, rows, {}, {-6, 0, 0, 2}),
                       net.node("Slice", {tiled, net.list({-1}), net.list({-99}), net.list({0}), net.list({-2})})};
  EXPECT_GT(expectMeaning(net, 0).statistics.removedRasters, 2u);
}

TEST_F(RegionPasses, TensorsThatOthersSeeStay) {
  for (const char* reader : {"nobody", "output", "view as output", "branch", "kernel"}) {
    PassNet net;
    const std::string_view kind = reader;
    const TensorId x = net.node("Neg", {net.input(drawnTensor({3, 4}, -9, 9, 1))});
    const TensorId turned = transposed(net, x, {1, 0});
    net.model.outputs = {net.node("Exp", {net.node("Slice", {turned, net.list({1}), net.list({3})})})};
    if (kind == "output") net.model.outputs.push_back(turned);
    if (kind == "view as output") net.model.outputs.push_back(net.node("Reshape", {turned, net.list({12})}));
    if (kind == "branch") net.model.outputs.push_back(net.negatedInBranch(turned));
    if (kind == "kernel") net.model.outputs.push_back(net.node("Neg", {turned}));
    const Outcome after = expectMeaning(net, 1e-6, reader);
    EXPECT_EQ(after.statistics.removedRasters, kind == "nobody" ? 1u : 0u) << reader;
  }
}

/// Bits are copied as another type: a view may not be made of the tensor.
TEST_F(RegionPasses, OtherTypesOfTheSameBits) {
  PassNet net;
  const TensorId x = net.node("Neg", {net.input(drawnTensor({4, 64}, -9, 9, 1))});
  const TensorId bits = bitsAs(net, x, cast::ElementType::i32);
  const TensorId part = net.node("Slice", {bits, net.list({1}), net.list({3})});
  const TensorId real = bitsAs(net, transposed(net, part, {1, 0}), cast::ElementType::f32);
  net.model.outputs = {net.node("Neg", {part}), net.node("Neg", {real}),
                       net.node("Neg", {joined(net, {bits, part}, 0)})};
  expectMeaning(net, 0);
}

/// Parts of a tensor that kernels overwrite, that are outputs, parts of inputs, of constants and of other parts.
TEST_F(RegionPasses, PartsOfTensors) {
  const auto part = [](PassNet& net, TensorId x, int64_t first, int64_t last) {
    return net.node("Slice", {x, net.list({first}), net.list({last})});
  };
  PassNet net;
  const TensorId given = net.input(drawnTensor({8, 64}, -9, 9, 1));
  const TensorId made = net.node("Neg", {given});
  const TensorId a = part(net, made, 1, 5), b = part(net, made, 4, 8), inner = part(net, a, 1, 3);
  const TensorId constant = net.constant(drawnTensor({8, 64}, -9, 9, 2));
  net.model.outputs = {net.node("Relu", {a}),
                       net.node("Neg", {b}),
                       net.node("Add", {net.node("Relu", {made}), given}),
                       inner,
                       part(net, given, 2, 4),
                       net.node("Add", {part(net, constant, 3, 5), inner}),
                       part(net, made, 3, 3)};
  const TensorId both = joined(net, {constant, made}, 0);  // parts of it are parts of the constant
  for (const auto& [first, last] : {std::pair(0, 8), {2, 4}, {8, 16}, {9, 11}})
    net.model.outputs.push_back(net.node("Neg", {part(net, both, first, last)}));
  expectMeaning(net, 0);

  PassNet unaligned;
  const TensorId x = unaligned.node("Neg", {unaligned.input(drawnTensor({8, 3}, -9, 9, 1))});
  unaligned.model.outputs = {unaligned.node("Exp", {part(unaligned, x, 1, 5)}), unaligned.node("Relu", {x})};
  EXPECT_EQ(expectMeaning(unaligned, 1e-6).statistics.partialViews, 0u);
}

}  // namespace
}  // namespace opkit::ops::reshape
