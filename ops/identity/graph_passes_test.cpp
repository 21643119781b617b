// Every graph pass that an operator brings: node counts before and after, and the same outputs, on CPU and Vulkan.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/graph/pass.h"
#include "ops/cast/cast_generated.h"
#include "ops/conv/conv_generated.h"
#include "ops/pass_test_support.h"
#include "ops/unary/unary_generated.h"

namespace opkit::ops {
namespace {

struct Net : PassNet {
  TensorId input(const Shape& shape) { return PassNet::input(drawnTensor(shape, -3, 3, 7)); }
};

Tensor values(const Shape& shape, float low, float high, uint32_t seed = 1) {
  return drawnTensor(shape, low, high, seed);
}
Tensor scalar(float value) { return tensorOf({}, {value}); }

class GraphPasses : public PassTest {
 protected:
  /// The nodes that are left; the outputs must be those without any pass, within `tolerance` of their largest element.
  static Types afterPasses(const Model& model, double tolerance) {
    PassNet net{model, {}};
    for (const TensorId input : model.inputs) {
      const ModelTensor& tensor = model.tensors[input];
      net.inputs.emplace(tensor.name, drawnTensor(tensor.desc.shape, -3, 3, 7));
    }
    return expectMeaning(net, tolerance).nodes;
  }
  static Types afterBinaryFusion(const PassNet& net);
};

TEST_F(GraphPasses, BatchNormalizationGoesIntoConv) {
  Net net;
  const TensorId x = net.input({1, 3, 7, 7});
  const TensorId conv = net.node("Conv", {x, net.constant(values({4, 3, 3, 3}, -1, 1))});
  const TensorId norm =
      net.node("BatchNormalization", {conv, net.constant(values({4}, 0.5, 2, 2)), net.constant(values({4}, -1, 1, 3)),
                                      net.constant(values({4}, -1, 1, 4)), net.constant(values({4}, 0.5, 2, 5))});
  net.model.outputs = {norm};
  EXPECT_EQ(afterPasses(net.model, 1e-5), Types{"Conv"});
  // An activation is in between, also if the convolution has taken it over.
  Net other;
  const TensorId dense = other.node("Conv", {other.input({1, 3, 7, 7}), other.constant(values({4, 3, 3, 3}, -1, 1))});
  std::vector<TensorId> inputs{other.node("Relu", {dense})};
  for (uint32_t seed : {2, 3, 4, 5}) inputs.push_back(other.constant(values({4}, 0.5, 2, seed)));
  other.model.outputs = {other.node("BatchNormalization", inputs)};
  EXPECT_EQ(afterPasses(other.model, 1e-5), (Types{"Conv", "BatchNormalization"}));
  // Another node reads the convolution: it must stay unchanged.
  net.model.outputs = {norm, conv};
  EXPECT_EQ(afterPasses(net.model, 1e-5), (Types{"Conv", "BatchNormalization"}));
}

TEST_F(GraphPasses, IdentitiesVanish) {
  Net net;
  const TensorId x = net.input({2, 3});
  const TensorId first = net.node("Identity", {x});
  const TensorId relu = net.node("Relu", {first});
  const std::vector<TensorId> dropout = net.model.addNode(
      "Dropout", "dropout", {relu, net.constant(*Tensor::fromValues<uint8_t>({DType::Bool, {}}, {1}))}, {}, 2);
  net.model.outputs = {net.node("Identity", {dropout[0]})};
  EXPECT_EQ(afterPasses(net.model, 0), Types{"Relu"});
  // Both ends have names that must stay.
  Net copy;
  copy.model.outputs = {copy.node("Identity", {copy.input({2})})};
  EXPECT_EQ(afterPasses(copy.model, 0), Types{"Identity"});
}

TEST_F(GraphPasses, DeadCodeVanishes) {
  Net net;
  const TensorId x = net.input({2, 3});
  net.node("Exp", {net.node("Neg", {x})});
  net.model.outputs = {net.node("Relu", {x})};
  EXPECT_EQ(afterPasses(net.model, 0), Types{"Relu"});
}

/// exp(-x) + exp(f(x)) as two chains of nodes; the second one may be an output too.
Model twoChains(const char* f, bool isOutput) {
  Net net;
  const TensorId x = net.input({2, 3});
  const TensorId a = net.node("Exp", {net.node("Neg", {x})}), b = net.node("Exp", {net.node(f, {x})});
  net.model.outputs = {net.node("Add", {a, b})};
  if (isOutput) net.model.outputs.push_back(b);
  return net.model;
}

TEST_F(GraphPasses, EqualNodesAreOneNode) {
  EXPECT_EQ(afterPasses(twoChains("Neg", false), 1e-5), (Types{"Neg", "Exp", "Add"}));
  EXPECT_EQ(afterPasses(twoChains("Neg", true), 1e-5), (Types{"Neg", "Exp", "Exp", "Add"})) << "an output has a name";
  EXPECT_EQ(afterPasses(twoChains("Abs", false), 1e-5).size(), 5u) << "another operator";
  Net other;
  const TensorId x = other.input({2, 4});
  other.model.outputs.push_back(other.node("Sub", {x, other.node("Neg", {x})}));
  other.model.outputs.push_back(other.node("Sub", {other.node("Neg", {other.model.outputs[0]}), x}));  // other inputs
  cast::CastParamsT toHalf, toInteger;
  toHalf.to = cast::ElementType::f16;
  toInteger.to = cast::ElementType::i32;
  for (const cast::CastParamsT& params : {toHalf, toInteger})
    other.model.outputs.push_back(other.node("Abs", {other.node("Cast", {x}, packParams(params))}));
  EXPECT_EQ(afterPasses(other.model, 0).size(), other.model.nodes.size());
}

/// 0.5 x (1 + erf(x / sqrt 2)), multiplied in the given order.
Model geluModel(int order, float divisor) {
  Net net;
  const TensorId x = net.input({3, 5});
  const TensorId scaled = order == 2 ? net.node("Mul", {x, net.constant(scalar(1 / divisor))})
                                     : net.node("Div", {x, net.constant(scalar(divisor))});
  const TensorId gate = net.node("Add", {net.node("Erf", {scaled}), net.constant(scalar(1))});
  const TensorId half = net.constant(scalar(0.5f));
  net.model.outputs = {order == 0   ? net.node("Mul", {net.node("Mul", {x, gate}), half})
                       : order == 1 ? net.node("Mul", {net.node("Mul", {x, half}), gate})
                                    : net.node("Mul", {half, net.node("Mul", {gate, x})})};
  return net.model;
}

TEST_F(GraphPasses, ErfGeluIsOneOperator) {
  for (const int order : {0, 1, 2}) EXPECT_EQ(afterPasses(geluModel(order, 1.41421356f), 5e-6), Types{"Gelu"}) << order;
  EXPECT_EQ(afterPasses(geluModel(0, 1.5f), 5e-6).size(), 5u);  // some other function
}

/// The scalars of a GELU in f64, with the digits that f32 holds or all, and of any rank.
TEST_F(GraphPasses, ScalarsOfAGeluAreExactAndRaiseNoRank) {
  const auto nodesOf = [](double root, const Shape& shape, DType dtype) {
    Net net;
    const auto constant = [&](double value) {
      const Tensor tensor = *Tensor::onHost({dtype, shape});
      convertElements(*Tensor::fromValues<double>({DType::Float64, shape}, {value}), tensor);
      return net.constant(tensor);
    };
    const TensorId x = net.model.addInput("x", {dtype, {3}});
    const TensorId scaled = net.node("Div", {x, constant(root)});
    const TensorId gate = net.node("Add", {net.node("Erf", {scaled}), constant(1)});
    net.model.outputs = {net.node("Mul", {net.node("Mul", {x, gate}), constant(0.5)})};
    return (*Interpreter::create(net.model, builtinOps()))->model().nodes.size();
  };
  EXPECT_EQ(nodesOf(M_SQRT2, {}, DType::Float64), 1u);
  EXPECT_EQ(nodesOf(1.41421354, {}, DType::Float64), 5u);
  EXPECT_EQ(nodesOf(M_SQRT2, {}, DType::Float16), 1u);
  EXPECT_EQ(nodesOf(M_SQRT2, {1, 1}, DType::Float32), 5u);
}

Model layerNormModel(bool power, bool extraReader) {
  Net net;
  const TensorId x = net.input({2, 3, 8});
  const TensorId axes = net.constant(*Tensor::fromValues<int64_t>({DType::Int64, {1}}, {-1}));
  const TensorId centred = net.node("Sub", {x, net.node("ReduceMean", {x, axes})});
  const TensorId square =
      power ? net.node("Pow", {centred, net.constant(scalar(2))}) : net.node("Mul", {centred, centred});
  const TensorId variance = net.node("ReduceMean", {square, axes});
  const TensorId deviation = net.node("Sqrt", {net.node("Add", {variance, net.constant(scalar(1e-5f))})});
  const TensorId scaled = net.node("Mul", {net.node("Div", {centred, deviation}), net.constant(values({8}, 0.5, 2))});
  net.model.outputs = {net.node("Add", {net.constant(values({8}, -1, 1)), scaled})};
  if (extraReader) net.model.outputs.push_back(variance);
  return net.model;
}

TEST_F(GraphPasses, LayerNormalizationIsOneOperator) {
  EXPECT_EQ(afterPasses(layerNormModel(true, false), 1e-5), Types{"LayerNormalization"});
  EXPECT_EQ(afterPasses(layerNormModel(false, false), 1e-5), Types{"LayerNormalization"});
  EXPECT_EQ(afterPasses(layerNormModel(true, true), 1e-5).size(), 9u);
}

ParamBytes clip(float low, float high) {
  unary::UnaryParamsT params;
  params.alpha = low;
  params.beta = high;
  return packParams(params);
}

TEST_F(GraphPasses, ActivationsGoIntoProducts) {
  Net conv;
  const TensorId image = conv.input({1, 3, 6, 6});
  const TensorId dense =
      conv.node("Conv", {image, conv.constant(values({4, 3, 3, 3}, -1, 1)), conv.constant(values({4}, -1, 1, 2))});
  conv::ConvParamsT depthwise;
  depthwise.group = 4;
  const TensorId relu = conv.node("Relu", {dense});
  const TensorId second =
      conv.node("Conv", {relu, conv.constant(values({4, 1, 3, 3}, -1, 1, 3))}, packParams(depthwise));
  conv.model.outputs = {conv.node("Clip", {second}, clip(-0.5f, 1))};
  EXPECT_EQ(afterPasses(conv.model, 1e-5), (Types{"Conv", "Conv"}));

  Net gemm;
  const TensorId rows = gemm.input({3, 8});
  const TensorId product =
      gemm.node("Gemm", {rows, gemm.constant(values({8, 5}, -1, 1)), gemm.constant(values({5}, -1, 1, 2))});
  const TensorId matmul = gemm.node("MatMul", {gemm.node("Relu", {product}), gemm.constant(values({5, 4}, -1, 1, 3))});
  gemm.model.outputs = {gemm.node("Relu", {gemm.node("Clip", {matmul}, clip(-1, 2))})};
  EXPECT_EQ(afterPasses(gemm.model, 1e-5), (Types{"Gemm", "MatMul"}));
}

TEST_F(GraphPasses, ActivationsThatCannotMoveStay) {
  Net net;
  const TensorId image = net.input({1, 3, 6, 6});
  const TensorId conv = net.node("Conv", {image, net.constant(values({4, 3, 3, 3}, -1, 1))});
  net.model.outputs = {net.node("Relu", {conv}), conv};  // another node reads the result before the activation
  EXPECT_EQ(afterPasses(net.model, 1e-5), (Types{"Conv", "Relu"}));
  net.model.outputs = {net.node("Clip", {conv}, clip(2, 1))};  // Clip gives its maximum then; a clamp does not
  EXPECT_EQ(afterPasses(net.model, 1e-5), (Types{"Conv", "Clip"}));
}

/// The commands that run with the pass; results must equal those without it.
Types GraphPasses::afterBinaryFusion(const PassNet& net) {
  Types commands;
  for (const std::string& backend : backends()) {
    const Outcome plain = runWith(net, backend, {"fuse-binary-clamp"});
    const Outcome fused = runWith(net, backend, {});
    EXPECT_TRUE(fused.status.isOk()) << fused.status.toString();
    EXPECT_EQ(plain.outputs, fused.outputs);
    EXPECT_EQ(plain.values, fused.values) << backend;
    EXPECT_GE(plain.commands.size(), fused.commands.size());
    commands = fused.commands;
  }
  return commands;
}

TEST_F(GraphPasses, ActivationsGoIntoArithmetic) {
  Net net;
  const TensorId x = net.input({1, 4, 5, 3});
  const TensorId sum = net.node("Add", {x, net.node("Sin", {x})});
  const TensorId product = net.node("Mul", {net.node("Relu", {sum}), net.constant(values({3}, -2, 2))});
  net.model.outputs = {net.node("Relu", {net.node("Clip", {product}, clip(-1, 2))})};
  EXPECT_EQ(afterBinaryFusion(net), (Types{"Sin", "Add", "Mul"}));
}

TEST_F(GraphPasses, ActivationsOfWhatOthersReadOrOfIntegersStay) {
  Net read;
  const TensorId x = read.input({2, 6});
  const TensorId sum = read.node("Add", {x, read.node("Sin", {x})});
  read.model.outputs = {read.node("Relu", {sum}), sum};
  EXPECT_EQ(afterBinaryFusion(read), (Types{"Sin", "Add", "Relu"}));

  Net view;  // the sum is read as another shape, too
  const TensorId y = view.input({2, 6});
  const TensorId total = view.node("Add", {y, view.node("Sin", {y})});
  const TensorId flat =
      view.node("Reshape", {total, view.constant(*Tensor::fromValues<int64_t>({DType::Int64, {1}}, {12}))});
  view.model.outputs = {view.node("Relu", {total}), view.node("Sin", {flat})};
  EXPECT_EQ(afterBinaryFusion(view), (Types{"Sin", "Add", "Relu", "Sin"}));

  Net integers;
  cast::CastParamsT toInteger, toFloat;
  toInteger.to = cast::ElementType::i32;
  toFloat.to = cast::ElementType::f32;
  const TensorId whole = integers.node("Cast", {integers.input({9})}, packParams(toInteger));
  const TensorId relu = integers.node("Relu", {integers.node("Add", {whole, whole})});
  integers.model.outputs = {integers.node("Cast", {relu}, packParams(toFloat))};
  EXPECT_EQ(afterBinaryFusion(integers), (Types{"Cast", "Add", "Relu", "Cast"}));
}

TEST_F(GraphPasses, ModelsThatDoNotFitTheirCardsAreLeftToTheShapeRules) {
  for (const NodeId node : {NodeId(0), NodeId(2), NodeId(4)}) {
    Model model = geluModel(0, 1.41421356f);
    model.nodes[node].inputs.clear();
    const auto interpreter = Interpreter::create(model, builtinOps());
    ASSERT_TRUE(interpreter) << interpreter.error().toString();
    const auto session = (*interpreter)->createSession({});
    EXPECT_NE((*session)->resize().message().find("is required"), std::string::npos);
  }
}

TEST_F(GraphPasses, UnknownNamesAreRefusedAndListed) {
  const auto interpreter = Interpreter::create(geluModel(0, 1), builtinOps(), {{"no-such-pass"}});
  ASSERT_FALSE(interpreter);
  EXPECT_NE(interpreter.error().message().find("no graph pass is called 'no-such-pass'"), std::string::npos);
  EXPECT_NE(interpreter.error().message().find("fuse-gelu"), std::string::npos);
}

TEST_F(GraphPasses, APassThatBreaksTheModelIsNamed) {
  OpRegistry registry = builtinOps();
  registry.addPass({"vandal", "drops every node", GraphPass::Position::BeforeLowering,
                    [](Model& model, const OpRegistry&) -> Result<size_t> {
                      model.nodes.clear();
                      return size_t{1};
                    },
                    nullptr});
  const auto interpreter = Interpreter::create(geluModel(0, 1), registry);
  ASSERT_FALSE(interpreter);
  EXPECT_NE(interpreter.error().message().find("graph pass 'vandal'"), std::string::npos);
}

}  // namespace
}  // namespace opkit::ops
