// The pass integer-qdq: the nodes that are left, and outputs within one step of those in floats.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/backend/device_test_support.h"
#include "engine/graph/pass.h"
#include "engine/runtime/session.h"
#include "ops/builtin_ops.h"
#include "ops/concat/concat_generated.h"
#include "ops/conv/conv_generated.h"
#include "ops/gemm/gemm_generated.h"
#include "ops/pool/pool_generated.h"
#include "ops/quantize/dequantize_generated.h"
#include "ops/quantize/quantize_generated.h"

namespace opkit::ops::quantize {
namespace {

using Types = std::vector<std::string>;

/// A network of quantised values under construction. Its input "x" holds u8.
struct Net {
  Model model;
  int count = 0;

  TensorId input(const Shape& shape) { return model.addInput("x", {DType::UInt8, shape}); }
  TensorId constant(Tensor value) { return model.addConstant(fmt::format("c{}", count++), std::move(value)); }
  TensorId node(const char* type, std::vector<TensorId> inputs, ParamBytes params = {}) {
    return model.addNode(type, fmt::format("n{}", count++), std::move(inputs), std::move(params))[0];
  }
  TensorId scale(std::vector<float> values) {
    const Shape shape = values.size() == 1 ? Shape{} : Shape{static_cast<int64_t>(values.size())};
    return constant(*Tensor::fromValues<float>({DType::Float32, shape}, values));
  }
  TensorId zero(int value, DType dtype = DType::UInt8, size_t extent = 1) {
    Tensor tensor = *Tensor::onHost({dtype, extent == 1 ? Shape{} : Shape{static_cast<int64_t>(extent)}});
    std::ranges::fill(tensor.bytes(), static_cast<std::byte>(value));
    return constant(tensor);
  }
  TensorId real(TensorId values, float by = 0.05f, int zeroPoint = 100) {
    return node("DequantizeLinear", {values, scale({by}), zero(zeroPoint)});
  }
  TensorId quantized(TensorId real, float by = 0.1f, int zeroPoint = 120) {
    return node("QuantizeLinear", {real, scale({by}), zero(zeroPoint)});
  }
  /// Constant weights of i8 as floats, with a scale for each index of `axis`.
  TensorId weights(const Shape& shape, size_t scales, int64_t axis) {
    Tensor codes = *Tensor::onHost({DType::Int8, shape});
    for (size_t i = 0; i < codes.sizeBytes(); ++i) codes.bytes()[i] = static_cast<std::byte>(i * 37 % 255 - 127);
    std::vector<float> values;
    for (size_t i = 0; i < scales; ++i) values.push_back(0.004f + 0.001f * static_cast<float>(i));
    DequantizeParamsT params;
    params.axis = axis;
    return node("DequantizeLinear", {constant(codes), scale(values), zero(0, DType::Int8, scales)}, packParams(params));
  }
  TensorId bias(size_t channels) {
    std::vector<int32_t> codes;
    for (size_t i = 0; i < channels; ++i) codes.push_back(static_cast<int32_t>(i) * 1000 - 700);
    const Shape shape{static_cast<int64_t>(channels)};
    return node("DequantizeLinear",
                {constant(*Tensor::fromValues<int32_t>({DType::Int32, shape}, codes)), scale({2e-4f})});
  }
};

struct Outcome {
  Types nodes;
  std::vector<int> values;  // of the first output, integers
};

Outcome runWith(const Model& model, std::vector<std::string> disabled, const std::string& backend = "cpu",
                const std::shared_ptr<Runtime>& runtime = *createRuntime("cpu")) {
  Outcome outcome;
  const auto interpreter = *Interpreter::create(model, builtinOps(), {std::move(disabled)});
  for (const ModelNode& node : interpreter->model().nodes) outcome.nodes.push_back(node.type);
  const auto session = *interpreter->createSession({.backend = backend, .threads = 2}, runtime);
  const std::span<std::byte> bytes = (*session->fillInput("x")).bytes();
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 73 % 256);
  const Status status = session->run();
  EXPECT_TRUE(status.isOk()) << status.toString();
  const Tensor& y = session->outputs()[0];
  for (const int64_t value : toInt64(y)) outcome.values.push_back(static_cast<int>(value));
  return outcome;
}

/// The nodes after all passes. Every output must be within one step of that without passes, on every backend.
Types afterPasses(const Model& model) {
  Types nodes;
  for (const char* backend : {"reference", "cpu", "vulkan"}) {
    const auto runtime = createRuntime(backend);
    if (!runtime && !devicesArePromised()) continue;
    if (!runtime) ADD_FAILURE() << runtime.error().toString();
    const Outcome before = runWith(model, {kAllPasses}, backend, *runtime),
                  after = runWith(model, {}, backend, *runtime);
    EXPECT_EQ(before.values.size(), after.values.size());
    size_t apart = 0, extremes = 0;
    for (size_t i = 0; i < before.values.size(); ++i) {
      apart += before.values[i] != after.values[i];
      extremes += after.values[i] == 0 || after.values[i] == 255;
      EXPECT_LE(std::abs(before.values[i] - after.values[i]), 1) << backend << ", element " << i;
    }
    EXPECT_LE(apart, 1 + before.values.size() / 50) << backend << ": ties are rare";
    EXPECT_LT(2 * extremes, before.values.size()) << "the data tell little";
    nodes = after.nodes;
  }
  return nodes;
}

ParamBytes convParams() {
  conv::ConvParamsT params;
  params.pads = {1, 1, 1, 1};
  return packParams(params);
}

TEST(IntegerPass, AConvolutionIsOneNode) {
  for (const bool perChannel : {false, true}) {
    Net net;
    const TensorId x = net.real(net.input({2, 3, 6, 5}));
    const TensorId w = net.weights({4, 3, 3, 3}, perChannel ? 4 : 1, 0);
    net.model.outputs = {net.quantized(net.node("Conv", {x, w, net.bias(4)}, convParams()))};
    EXPECT_EQ(afterPasses(net.model), Types{"QLinearConv"});
  }
  Net net;  // a bias in floats, an activation below which the integers end, and no zero point
  const TensorId x = net.real(net.input({1, 3, 6, 5}));
  const TensorId bias = net.constant(*Tensor::fromValues<float>({DType::Float32, {4}}, {0.1f, -0.2f, 0.3f, 0}));
  const TensorId conv = net.node("Conv", {x, net.weights({4, 3, 3, 3}, 4, 0), bias}, convParams());
  net.model.outputs = {net.node("QuantizeLinear", {net.node("Relu", {conv}), net.scale({0.02f})})};
  Model& model = net.model;
  EXPECT_EQ(runWith(model, {}).nodes, Types{"QLinearConv"});
  const auto before = runWith(model, {kAllPasses}), after = runWith(model, {});
  for (size_t i = 0; i < before.values.size(); ++i) EXPECT_LE(std::abs(before.values[i] - after.values[i]), 1);
}

TEST(IntegerPass, AGemmIsAConvolutionOfPixels) {
  for (const bool transposed : {false, true}) {
    Net net;
    gemm::GemmParamsT params;
    params.trans_b = transposed;
    const TensorId x = net.real(net.input({5, 12}));
    const TensorId w = net.weights(transposed ? Shape{7, 12} : Shape{12, 7}, 7, transposed ? 0 : 1);
    net.model.outputs = {net.quantized(net.node("Gemm", {x, w, net.bias(7)}, packParams(params)))};
    EXPECT_EQ(afterPasses(net.model), (Types{"Reshape", "QLinearConv", "Reshape"}));
  }
}

TEST(IntegerPass, GemmsThatAreNoConvolutions) {
  const auto nodesOf = [](const Shape& x, const Shape& bias, DType dtype, int depth) {
    Net net;
    Tensor values = *Tensor::onHost({DType::Float32, bias});
    for (size_t i = 0; i < values.data<float>().size(); ++i) values.data<float>()[i] = static_cast<float>(i);
    Tensor codes = *Tensor::onHost({dtype, {depth, 4}});
    std::ranges::fill(codes.bytes(), std::byte{3});
    const TensorId w = net.node("DequantizeLinear", {net.constant(codes), net.scale({0.1f}), net.zero(0, dtype)});
    gemm::GemmParamsT params;
    params.beta = 1;
    const TensorId y = net.node("Gemm", {net.real(net.input(x)), w, net.constant(values)}, packParams(params));
    net.model.outputs = {net.quantized(y, 50)};
    const Outcome before = runWith(net.model, {kAllPasses}), after = runWith(net.model, {});
    EXPECT_EQ(before.values.size(), after.values.size());
    for (size_t i = 0; i < before.values.size(); ++i) EXPECT_LE(std::abs(before.values[i] - after.values[i]), 1);
    return after.nodes;
  };
  const auto isGemm = [](const Types& types) { return std::ranges::find(types, "Gemm") != types.end(); };
  EXPECT_FALSE(isGemm(nodesOf({4, 12}, {4}, DType::Int8, 12)));
  EXPECT_FALSE(isGemm(nodesOf({4, 12}, {1, 4}, DType::Int8, 12)));
  EXPECT_TRUE(isGemm(nodesOf({4, 12}, {4, 1}, DType::Int8, 12))) << "a bias for each row";
  EXPECT_TRUE(isGemm(nodesOf({4, 12}, {4, 4}, DType::Int8, 12)));
  EXPECT_TRUE(isGemm(nodesOf({4, 12}, {}, DType::Int8, 12)));
  EXPECT_FALSE(isGemm(nodesOf({0, 12}, {4}, DType::Int8, 12))) << "no rows";
  EXPECT_FALSE(isGemm(nodesOf({2, 25088}, {4}, DType::Int8, 25088)));
  EXPECT_TRUE(isGemm(nodesOf({2, 70000}, {4}, DType::Int8, 70000))) << "sums of more than 32 bits";
}

TEST(IntegerPass, AProductOfMatrices) {
  Net net;
  const TensorId a = net.real(net.input({2, 5, 12}));
  net.model.outputs = {net.quantized(net.node("MatMul", {a, net.weights({12, 6}, 6, -1)}), 0.4f)};
  EXPECT_EQ(afterPasses(net.model), Types{"QLinearMatMul"});
  Net list;  // scales of the depth, not of columns
  list.model.outputs = {
      list.quantized(list.node("MatMul", {list.real(list.input({3, 12})), list.weights({12}, 12, 0)}), 0.4f)};
  EXPECT_EQ(afterPasses(list.model), (Types{"DequantizeLinear", "DequantizeLinear", "MatMul", "QuantizeLinear"}));
  Net own;  // of two activations
  const TensorId x = own.input({4, 4});
  own.model.outputs = {own.quantized(own.node("MatMul", {own.real(x), own.real(x, 0.03f, 128)}), 0.4f)};
  EXPECT_EQ(afterPasses(own.model), Types{"QLinearMatMul"});
}

TEST(IntegerPass, PairsAndPlanes) {
  for (const char* type : {"Add", "Mul"}) {
    Net net;
    const TensorId x = net.input({2, 3, 4, 5});
    const TensorId pair = net.node(type, {net.real(x), net.real(x, 0.02f, 90)});
    net.model.outputs = {net.node("QuantizeLinear", {net.node("Relu", {pair}), net.scale({0.06f}), net.zero(0)})};
    const Outcome before = runWith(net.model, {kAllPasses}), after = runWith(net.model, {});
    EXPECT_EQ(after.nodes, Types{fmt::format("QLinear{}", type)});
    for (size_t i = 0; i < before.values.size(); ++i) EXPECT_LE(std::abs(before.values[i] - after.values[i]), 1);
  }
  Net net;
  net.model.outputs = {net.quantized(net.node("GlobalAveragePool", {net.real(net.input({3, 5, 4, 7}))}), 0.03f)};
  EXPECT_EQ(afterPasses(net.model), Types{"QLinearGlobalAveragePool"});
}

TEST(IntegerPass, IntegersMoveAsTheyAre) {
  Net net;
  pool::PoolParamsT params;
  params.kernel_shape = {2, 2};
  const TensorId x = net.input({1, 2, 6, 6});
  const TensorId pooled = net.quantized(net.node("MaxPool", {net.real(x)}, packParams(params)), 0.05f, 100);
  concat::ConcatParamsT axis;
  axis.axis = 1;
  const TensorId twice = net.node("Concat", {net.real(pooled), net.real(pooled)}, packParams(axis));
  net.model.outputs = {net.quantized(twice, 0.05f, 100)};
  EXPECT_EQ(afterPasses(net.model), (Types{"MaxPool", "Concat"}));
  Net other;  // another scale behind it
  const TensorId floats = other.node("MaxPool", {other.real(other.input({1, 2, 6, 6}))}, packParams(params));
  other.model.outputs = {other.quantized(floats)};
  EXPECT_EQ(afterPasses(other.model), (Types{"DequantizeLinear", "MaxPool", "QuantizeLinear"}));
}

/// The types that are left of a Conv between conversions, after `change`.
Types changed(const std::function<TensorId(Net&, TensorId x, TensorId w)>& change) {
  Net net;
  const TensorId x = net.real(net.input({1, 3, 6, 5})), w = net.weights({4, 3, 3, 3}, 4, 0);
  net.model.outputs.insert(net.model.outputs.begin(), change(net, x, w));
  return runWith(net.model, {}).nodes;
}
bool hasConv(const Types& types) { return std::ranges::find(types, "Conv") != types.end(); }

TEST(IntegerPass, OtherNodesStay) {
  const auto conv = [](Net& net, TensorId x, TensorId w) { return net.node("Conv", {x, w}, convParams()); };
  EXPECT_FALSE(hasConv(changed([&](Net& net, TensorId x, TensorId w) { return net.quantized(conv(net, x, w)); })));
  // Another node reads the convolution.
  EXPECT_TRUE(hasConv(changed([&](Net& net, TensorId x, TensorId w) {
    const TensorId y = conv(net, x, w);
    net.model.outputs.push_back(y);
    return net.quantized(y);
  })));
  // The Relu cuts values that the integers could hold.
  EXPECT_TRUE(hasConv(changed(
      [&](Net& net, TensorId x, TensorId w) { return net.quantized(net.node("Relu", {conv(net, x, w)}), 0.1f, 5); })));
  // 16 bits.
  EXPECT_TRUE(hasConv(changed([&](Net& net, TensorId x, TensorId w) {
    const TensorId zero = net.constant(*Tensor::fromValues<int16_t>({DType::Int16, {}}, {0}));
    return net.node("QuantizeLinear", {conv(net, x, w), net.scale({0.001f}), zero});
  })));
  // A scale that is computed.
  EXPECT_TRUE(hasConv(changed([&](Net& net, TensorId x, TensorId w) {
    const TensorId one = net.node("ReduceMax", {x});
    const TensorId scale = net.node("Squeeze", {one});
    return net.node("QuantizeLinear", {conv(net, x, w), scale, net.zero(0)});
  })));
  // A bias of 2^40 steps.
  EXPECT_TRUE(hasConv(changed([&](Net& net, TensorId x, TensorId w) {
    const TensorId bias = net.constant(*Tensor::fromValues<float>({DType::Float32, {4}}, {0, 1e9f, 0, 0}));
    return net.quantized(net.node("Conv", {x, w, bias}, convParams()));
  })));
  // 33,000 products of a byte with a weight of up to 255 need more than 32 bits.
  EXPECT_TRUE(hasConv(changed([&](Net& net, TensorId x, TensorId) {
    Tensor codes = *Tensor::onHost({DType::UInt8, {1, 3, 110, 100}});
    std::ranges::fill(codes.bytes(), std::byte{255});
    const TensorId deep = net.node("DequantizeLinear", {net.constant(codes), net.scale({0.1f}), net.zero(0)});
    conv::ConvParamsT params;
    params.pads = {60, 60, 60, 60};
    return net.quantized(net.node("Conv", {x, deep}, packParams(params)), 100);
  })));
  // Scales along the wrong axis: an index of the depth has no scale in integers.
  EXPECT_TRUE(hasConv(changed([&](Net& net, TensorId x, TensorId) {
    return net.quantized(conv(net, x, net.weights({3, 3, 3, 3}, 3, 1)));
  })));
}

bool has(const Types& types, std::string_view type) { return std::ranges::find(types, type) != types.end(); }

/// Whether the pass took over a Conv whose bias lies between two units of its products.
bool isConvertedWithBias(float bias, float xScale, float wScale, float yScale) {
  Net net;
  Tensor codes = *Tensor::onHost({DType::UInt8, {1, 1, 1, 1}});
  codes.bytes()[0] = std::byte{2};
  const TensorId w = net.node("DequantizeLinear", {net.constant(codes), net.scale({wScale}), net.zero(0)});
  const TensorId offset = net.constant(*Tensor::fromValues<float>({DType::Float32, {1}}, {bias}));
  const TensorId conv = net.node("Conv", {net.real(net.input({1, 1, 1, 3}), xScale, 73), w, offset});
  net.model.outputs = {net.quantized(conv, yScale, 128)};
  const Outcome after = runWith(net.model, {});
  for (size_t i = 0; i < 3; ++i) {
    const double x = (static_cast<double>(i * 73) - 73) * xScale;
    const double code = std::nearbyint((x * 2 * wScale + bias) / yScale) + 128;
    EXPECT_LE(std::fabs(std::clamp(code, 0.0, 255.0) - after.values[i]), 1) << bias << ", " << xScale << ", " << yScale;
  }
  return !has(after.nodes, "Conv");
}

/// Scales in powers of 2, so that the test's sums are exact.
TEST(IntegerPass, ABiasIsWithinHalfAStepOfTheOutput) {
  EXPECT_FALSE(isConvertedWithBias(2, 1, 4, 0.25f)) << "half a unit is eight steps";
  EXPECT_TRUE(isConvertedWithBias(4, 1, 4, 0.25f)) << "a whole unit";
  EXPECT_TRUE(isConvertedWithBias(2, 1, 4, 4)) << "half a unit is half a step";
  size_t converted = 0, count = 0;
  for (const float xScale : {0.25f, 1.0f, 4.0f})
    for (const float wScale : {0.5f, 2.0f})
      for (const float yScale : {0.125f, 1.0f, 16.0f})
        for (const float bias : {0.4375f, -1.5f, 3.0f, 8.0f}) {
          converted += isConvertedWithBias(bias, xScale, wScale, yScale);
          ++count;
        }
  EXPECT_GT(converted, count / 4);
  EXPECT_LT(converted, count);
}

/// a [depth] times b [depth], both of 255 at run time and of u8 with zero point `zero`, as products of `shapes`.
struct LongProduct {
  Shape a, b;
  int zero = 0;
  bool isOpen = false;
  bool isConverted = false;
};

void expectLongProduct(const LongProduct& product) {
  Net net;
  Shape declared = product.a;
  if (product.isOpen) std::ranges::fill(declared, kDynamic);
  const TensorId a = net.model.addInput("a", {DType::UInt8, declared}),
                 b = net.model.addInput("b", {DType::UInt8, product.b});
  const int64_t depth = product.a.back();
  const float yScale = std::exp2(std::ceil(std::log2(static_cast<float>(depth) * 65025 / 250)));
  const TensorId y = net.node("MatMul", {net.real(a, 1, product.zero), net.real(b, 1, product.zero)});
  net.model.outputs = {net.quantized(y, yScale, 0)};
  const double sum = static_cast<double>(depth) * (255 - product.zero) * (255 - product.zero);
  const auto interpreter = *Interpreter::create(net.model, builtinOps());
  bool isConverted = true;
  for (const ModelNode& node : interpreter->model().nodes) isConverted = isConverted && node.type != "MatMul";
  EXPECT_EQ(isConverted, product.isConverted) << toString(product.a) << " x " << toString(product.b);
  const auto session = *interpreter->createSession({.backend = "cpu", .threads = 2});
  ASSERT_TRUE(session->resizeInput("a", product.a).isOk());
  for (const char* name : {"a", "b"}) std::ranges::fill(session->fillInput(name)->bytes(), std::byte{255});
  const Status status = session->run();
  ASSERT_TRUE(status.isOk()) << status.toString();
  for (const int64_t value : toInt64(session->outputs()[0]))
    EXPECT_LE(std::fabs(static_cast<double>(value) - sum / yScale), 1) << toString(product.a);
}

TEST(IntegerPass, ProductsOfRunTimeOperandsHaveAKnownDepth) {
  const LongProduct products[] = {{{1, 33026}, {33026, 1}},
                                  {{2, 33026}, {33026}},
                                  {{33026}, {33026, 2}},
                                  {{2, 1, 40000}, {40000, 2}},
                                  {{1, 70000}, {2, 70000, 1}},
                                  {{1, 33026}, {33026, 1}, 128},
                                  {.a = {1, 33026}, .b = {33026}, .isOpen = true},
                                  {.a = {2, 12}, .b = {12}, .isOpen = true},
                                  {.a = {2, 12}, .b = {12, 3}, .isOpen = true, .isConverted = true},
                                  {.a = {2, 16512}, .b = {16512, 1}, .isConverted = true},
                                  {.a = {2, 16513}, .b = {16513, 1}}};
  for (const LongProduct& product : products) expectLongProduct(product);
}

/// Planes of 255, of which 8,421,505 do not fit 31 bits: half of it, whatever their size.
TEST(IntegerPass, MeansOfLongPlanes) {
  for (const Shape& shape : {Shape{1, 1, 8421505}, Shape{1, 1, 5, 7}}) {
    Net net;
    net.model.outputs = {net.quantized(net.node("GlobalAveragePool", {net.real(net.input(shape), 0.5f, 0)}), 1, 0)};
    const auto interpreter = *Interpreter::create(net.model, builtinOps());
    const auto session = *interpreter->createSession({.backend = "cpu", .threads = 2});
    std::ranges::fill(session->fillInput("x")->bytes(), std::byte{255});
    const Status status = session->run();
    ASSERT_TRUE(status.isOk()) << status.toString();
    EXPECT_NEAR(static_cast<double>(toInt64(session->outputs()[0])[0]), 127.5, 1) << toString(shape);
  }
}

}  // namespace
}  // namespace opkit::ops::quantize
