// The pass fuse-gelu on graphs that nearly are an erf-GELU.
#include "ops/binary/binary_generated.h"
#include "ops/pass_test_support.h"

namespace opkit::ops::unary {
namespace {

using FuseGelu = PassTest;

/// The nodes x * 0.5 * (1 + erf(x / root)); by default a GELU.
struct GeluGraph {
  const char* name = "drawn";
  double half = 0.5, one = 1, root = 1.4142135381698608;  // sqrt 2 in f32
  DType dtype = DType::Float32;
  Shape rootShape{}, oneShape{}, halfShape{};
  bool multiplies = false;    // by 1 / root
  bool isUpsideDown = false;  // root / x
  bool readsAnother = false;  // erf of another tensor
  bool clampsSum = false, hasAxis = false, isOpen = false;
  int shown = -1;  // this node is an output, too
  int inBranch = -1;
  int extraFactor = 0;  // x once more
  bool isFused = false;
};

/// Values where 1 + erf vanishes, also multiplied by a large x, where it saturates, and between.
Tensor geluInput(DType dtype) {
  const bool isHalf = dtype == DType::Float16;
  const double most = isHalf ? 1000 : 1e6;
  return tensorOf({2, 6}, {-most, -6, -1.5, -0.25, -0.0, 0, 0.25, 1.5, 6, 3, NAN, -INFINITY}, dtype);
}

PassNet geluNet(const GeluGraph& graph) {
  PassNet net;
  const auto constant = [&](const Shape& shape, double value) {
    return net.constant(tensorOf(shape, {value}, graph.dtype));
  };
  const TensorId x = net.input(geluInput(graph.dtype), graph.isOpen);
  const TensorId argument = graph.readsAnother ? net.node("Neg", {x}) : x;
  const TensorId root = constant(graph.rootShape, graph.multiplies ? 1 / graph.root : graph.root);
  const TensorId scaled = graph.multiplies     ? net.node("Mul", {root, argument})
                          : graph.isUpsideDown ? net.node("Div", {root, argument})
                                               : net.node("Div", {argument, root});
  const TensorId error = net.node("Erf", {scaled});
  binary::BinaryParamsT params;
  if (graph.clampsSum) params.clamp_low = 0.5f;
  if (graph.hasAxis) params.axis = 0;
  const bool isPlain = !graph.clampsSum && !graph.hasAxis;
  const TensorId sum =
      net.node("Add", {error, constant(graph.oneShape, graph.one)}, isPlain ? ParamBytes() : packParams(params));
  TensorId product = net.node("Mul", {x, sum});
  if (graph.extraFactor) product = net.node("Mul", {product, x});
  net.model.outputs = {net.node("Mul", {product, constant(graph.halfShape, graph.half)})};
  const TensorId parts[] = {scaled, error, sum, product};
  if (graph.shown >= 0) net.model.outputs.push_back(parts[graph.shown]);
  if (graph.inBranch >= 0) net.model.outputs.push_back(net.negatedInBranch(parts[graph.inBranch]));
  return net;
}

const GeluGraph kGraphs[] = {
    {.name = "a GELU", .isFused = true},
    {.name = "f16", .dtype = DType::Float16, .isFused = true},
    {.name = "f64", .root = M_SQRT2, .dtype = DType::Float64, .isFused = true},
    {.name = "open extents", .isOpen = true, .isFused = true},
    {.name = "multiplied", .multiplies = true, .isFused = true},
    {.name = "multiplied in f16", .dtype = DType::Float16, .multiplies = true, .isFused = true},
    {.name = "a neighbour of the root", .root = 1.4142136573791504, .isFused = true},
    {.name = "another root", .root = 1.4142150878906250},
    {.name = "another root in f16", .root = 1.4150390625, .dtype = DType::Float16},
    {.name = "the root of f32 in f64", .dtype = DType::Float64},
    {.name = "more than 1", .one = 1.00000048},
    {.name = "less than 1", .one = 0.99999952},
    {.name = "more than 1 in f16", .one = 1.0009765625, .dtype = DType::Float16},
    {.name = "more than a half", .half = 0.50000024},
    {.name = "more than a half in f16", .half = 0.50048828125, .dtype = DType::Float16},
    {.name = "a root of rank 3", .rootShape = {1, 1, 1}},
    {.name = "1 of rank 3", .oneShape = {1, 1, 1}},
    {.name = "a half of rank 3", .halfShape = {1, 1, 1}},
    {.name = "the root divided by x", .isUpsideDown = true},
    {.name = "erf of another tensor", .readsAnother = true},
    {.name = "a clamp in the sum", .clampsSum = true},
    {.name = "an axis of old broadcasting", .hasAxis = true},
    {.name = "the quotient is an output", .shown = 0},
    {.name = "erf is an output", .shown = 1},
    {.name = "the sum is an output", .shown = 2},
    {.name = "the product is an output", .shown = 3},
    {.name = "a branch reads erf", .inBranch = 1},
    {.name = "a branch reads the product", .inBranch = 3},
    {.name = "four factors", .extraFactor = 1}};

TEST_F(FuseGelu, NearMissesKeepTheirMeaning) {
  for (const GeluGraph& graph : kGraphs) {
    const PassNet net = geluNet(graph);
    const Outcome after = expectMeaning(net, graph.dtype == DType::Float16 ? 2e-3 : 5e-7, graph.name);
    const bool isFused = std::ranges::count(after.nodes, "Gelu") == 1;
    EXPECT_EQ(isFused, graph.isFused) << graph.name;
  }
}

}  // namespace
}  // namespace opkit::ops::unary
