// The rules of com.microsoft: what the networks that they make compute, against plain loops or by hand.
#include "ops/features/onnx_ml_node.h"

namespace opkit::ops::com_microsoft {
namespace {

using features::expectOutput;
using features::expectOutputs;
using features::Floats;
using features::floats;
using features::refusalOf;
using features::tensor;
using Values = std::vector<double>;

constexpr DType kFloat = DType::Float32;

features::Node nodeOf(const char* type, const std::vector<TensorDesc>& inputs) {
  features::Node node(type, inputs);
  node.domain = "com.microsoft::";
  return node;
}

double gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }
double tanhGelu(double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }

TEST(ComMicrosoft, GelusTakeABias) {
  auto bias = nodeOf("BiasGelu", {{kFloat, {2, 2}}, {kFloat, {2}}}), fast = nodeOf("FastGelu", {{kFloat, {2}}});
  expectOutput(bias, {floats({2, 2}, {1, -1, 0.5, 2}), floats({2}, {0.25, -1})}, {2, 2},
               {gelu(1.25), gelu(-2), gelu(0.75), gelu(1)});
  expectOutput(fast, {floats({2}, {1, -0.5})}, {2}, {tanhGelu(1), tanhGelu(-0.5)});
  auto quick = nodeOf("QuickGelu", {{kFloat, {2}}});
  expectOutput(quick, {floats({2}, {1, -2})}, {2}, {1 / (1 + std::exp(-1.702)), -2 / (1 + std::exp(2 * 1.702))});
}

TEST(ComMicrosoft, ProductsTransposeAndScale) {
  // a is stored [batch, k, i], b [j, k].
  auto node = nodeOf("FusedMatMul", {{kFloat, {2, 3, 1}}, {kFloat, {2, 3}}});
  node.integer = {{"transA", 1}, {"transB", 1}};
  node.number["alpha"] = 0.5f;
  expectOutput(node, {floats({2, 3, 1}, {1, 2, 3, -1, 0, 1}), floats({2, 3}, {1, 0, 2, 3, 1, 0})}, {2, 1, 2},
               {3.5, 2.5, 0.5, -1.5});
  auto plain = nodeOf("FusedMatMul", {{kFloat, {1, 2}}, {kFloat, {2, 1}}});
  expectOutput(plain, {floats({1, 2}, {1, 2}), floats({2, 1}, {3, 4})}, {1, 1}, {11});
}

TEST(ComMicrosoft, ActivationsFollowConvAndGemm) {
  auto conv =
      nodeOf("FusedConv", {{kFloat, {1, 1, 1, 3}}, {kFloat, {1, 1, 1, 2}}, {kFloat, {1}}, {kFloat, {1, 1, 1, 2}}});
  conv.text["activation"] = "LeakyRelu";
  conv.numbers["activation_params"] = {0.5f};
  expectOutput(conv,
               {floats({1, 1, 1, 3}, {1, 2, -4}), floats({1, 1, 1, 2}, {1, 1}), floats({1}, {1}),
                floats({1, 1, 1, 2}, {10, -1})},
               {1, 1, 1, 2}, {14, -1});
  auto gemm = nodeOf("FusedGemm", {{kFloat, {1, 2}}, {kFloat, {1, 2}}, {kFloat, {1}}});
  gemm.integer["transB"] = 1;
  gemm.text["activation"] = "Relu";
  expectOutput(gemm, {floats({1, 2}, {1, -2}), floats({1, 2}, {3, 4}), floats({1}, {1})}, {1, 1}, {0});
  auto unknown = nodeOf("FusedConv", {{kFloat, {1, 1, 1, 3}}, {kFloat, {1, 1, 1, 2}}});
  unknown.text["activation"] = "Swishy";
  EXPECT_NE(refusalOf(unknown).find("'Swishy' is not one of Relu"), std::string::npos);
}

TEST(ComMicrosoft, SkipNormsAddBeforeTheyNormalise) {
  const Floats x{1, 2, 3, 4}, skip{0, 1, -1, 2}, bias{1, 0, 0, -1};
  const Values sum{2, 3, 2, 5};
  const double mean = 3, variance = (1 + 0 + 1 + 4) / 4.0, square = (4 + 9 + 4 + 25) / 4.0;
  Values centred, simple;
  for (size_t i = 0; i < 4; ++i) {
    centred.push_back((sum[i] - mean) / std::sqrt(variance + 1e-12) * 2 + static_cast<double>(i));
    simple.push_back(sum[i] / std::sqrt(square + 1e-12) * 2);
  }
  const TensorDesc row{kFloat, {1, 4}}, list{kFloat, {4}};
  const Tensor gamma = floats({4}, {2, 2, 2, 2}), beta = floats({4}, {0, 1, 2, 3});
  auto layer = nodeOf("SkipLayerNormalization", {row, row, list, list, list});
  ASSERT_TRUE(layer.import().isOk());
  layer.model.outputs = {layer.model.outputs[0], layer.model.outputs[3]};
  for (const std::string& backend : features::backends()) {
    const Status run =
        features::runNetwork(layer, backend, {floats({1, 4}, x), floats({1, 4}, skip), gamma, beta, floats({4}, bias)},
                             [&](size_t i, const Tensor& y) {
                               features::expectTensor(y, {{1, 4}, i == 0 ? centred : sum, 1e-5}, backend);
                             });
    EXPECT_TRUE(run.isOk()) << run.toString();
  }
  auto rms = nodeOf("SkipSimplifiedLayerNormalization", {row, row, list, list});
  ASSERT_TRUE(rms.import().isOk());
  rms.model.outputs = {rms.model.outputs[0]};
  const Status run = features::runNetwork(
      rms, "cpu", {floats({1, 4}, x), floats({1, 4}, skip), gamma, floats({4}, bias)}, [&](size_t, const Tensor& y) {
        features::expectTensor(y, {{1, 4}, simple, 1e-5}, "rms");
      });
  EXPECT_TRUE(run.isOk()) << run.toString();
}

TEST(ComMicrosoft, QuantisedPairsComputeInFloats) {
  const TensorDesc bytes{DType::UInt8, {3}}, scale{kFloat, {}}, point{DType::UInt8, {}};
  auto node = nodeOf("QLinearMul", {bytes, scale, point, bytes, scale, point, scale, point});
  // (x - 10) / 2 times (y - 0) / 4, by 0.5, plus 100.
  expectOutput(
      node,
      {tensor<uint8_t>(DType::UInt8, {3}, {12, 10, 8}), floats({}, {0.5}), tensor<uint8_t>(DType::UInt8, {}, {10}),
       tensor<uint8_t>(DType::UInt8, {3}, {8, 3, 255}), floats({}, {0.25}), tensor<uint8_t>(DType::UInt8, {}, {0}),
       floats({}, {0.5}), tensor<uint8_t>(DType::UInt8, {}, {100})},
      {3}, {104, 100, 0});
  auto sum = nodeOf("QLinearAdd", {bytes, scale, point, bytes, scale, point, scale, point});
  expectOutput(
      sum,
      {tensor<uint8_t>(DType::UInt8, {3}, {12, 10, 8}), floats({}, {0.5}), tensor<uint8_t>(DType::UInt8, {}, {10}),
       tensor<uint8_t>(DType::UInt8, {3}, {8, 3, 255}), floats({}, {0.25}), tensor<uint8_t>(DType::UInt8, {}, {0}),
       floats({}, {0.5}), tensor<uint8_t>(DType::UInt8, {}, {100})},
      {3}, {106, 102, 226});
  auto mean = nodeOf("QLinearGlobalAveragePool", {{DType::UInt8, {1, 1, 2, 2}}, scale, point, scale, point});
  expectOutput(mean,
               {tensor<uint8_t>(DType::UInt8, {1, 1, 2, 2}, {12, 10, 8, 20}), floats({}, {0.5}),
                tensor<uint8_t>(DType::UInt8, {}, {10}), floats({}, {0.25}), tensor<uint8_t>(DType::UInt8, {}, {7})},
               {1, 1, 1, 1}, {12});
  for (const char* type : {"QLinearAdd", "QLinearMul"}) {  // in floats without a zero point
    auto pair = nodeOf(type, {bytes, scale, point, bytes, scale, point, scale, point});
    pair.leaveOut(5);
    ASSERT_TRUE(pair.import().isOk());
    EXPECT_EQ(pair.model.nodes.back().type, "QuantizeLinear");
  }
  auto concat = nodeOf("QLinearConcat", {scale, point, bytes, scale, point, bytes, scale, point});
  concat.integer["axis"] = 0;
  expectOutput(concat,
               {floats({}, {2}), tensor<uint8_t>(DType::UInt8, {}, {1}), tensor<uint8_t>(DType::UInt8, {3}, {1, 2, 3}),
                floats({}, {2}), tensor<uint8_t>(DType::UInt8, {}, {1}), tensor<uint8_t>(DType::UInt8, {3}, {4, 8, 0}),
                floats({}, {1}), tensor<uint8_t>(DType::UInt8, {}, {0})},
               {6}, {1, 2, 3, 3, 5, 1});
  // Two channels of 1 x 3 places, channels last: means 2 and 5 of (x - 0) / 2.
  auto pool = nodeOf("QLinearGlobalAveragePool", {{DType::UInt8, {1, 1, 3, 2}}, scale, point, scale, point});
  pool.integer["channels_last"] = 1;
  expectOutput(pool,
               {tensor<uint8_t>(DType::UInt8, {1, 1, 3, 2}, {1, 7, 3, 9, 8, 14}), floats({}, {0.5}),
                tensor<uint8_t>(DType::UInt8, {}, {0}), floats({}, {0.25}), tensor<uint8_t>(DType::UInt8, {}, {3})},
               {1, 1, 1, 2}, {11, 23});
  auto few = nodeOf("QLinearConcat", {scale, point, bytes});
  few.integer["axis"] = 0;
  EXPECT_NE(refusalOf(few).find("three inputs per part, found 3 inputs"), std::string::npos);
}

TEST(ComMicrosoft, IntegerProductsAreScaled) {
  const TensorDesc a{DType::UInt8, {1, 2}}, b{DType::Int8, {2, 2}}, one{kFloat, {1}}, two{kFloat, {2}};
  auto node = nodeOf("MatMulIntegerToFloat", {a, b, one, two, {DType::UInt8, {}}, {DType::Int8, {}}, two});
  node.leaveOut(5);
  ASSERT_TRUE(node.import().isOk());
  // (a - 1) b = [1, 2] [[3, -1], [2, 4]] = [7, 7].
  for (const std::string& backend : features::backends()) {
    const auto interpreter = *Interpreter::create(node.model, builtinOps());
    const auto session = *interpreter->createSession({.backend = backend, .threads = 1});
    const auto set = [&](const char* name, const Tensor& value) { convertElements(value, *session->fillInput(name)); };
    set("x0", tensor<uint8_t>(DType::UInt8, {1, 2}, {2, 3}));
    set("x1", tensor<int8_t>(DType::Int8, {2, 2}, {3, -1, 2, 4}));
    set("x2", floats({1}, {0.5}));
    set("x3", floats({2}, {2, 4}));
    set("x4", tensor<uint8_t>(DType::UInt8, {}, {1}));
    set("x6", floats({2}, {0, 1}));
    const Status ran = session->run();
    ASSERT_TRUE(ran.isOk()) << ran.toString();
    features::expectTensor(session->outputs()[0], {{1, 2}, {7, 15}}, backend);
  }
  auto dynamic = nodeOf("DynamicQuantizeMatMul", {{kFloat, {1, 2}}, {DType::Int8, {2, 1}}, one});
  // The range [0, 255] has the scale 1 and the zero point 0.
  expectOutput(dynamic, {floats({1, 2}, {255, 3}), tensor<int8_t>(DType::Int8, {2, 1}, {1, -2}), floats({1}, {0.5})},
               {1, 1}, {124.5});
}

/// A node with 3 rows of weights of depth 40 in blocks of 16, 4 bits each; the last block is cut.
features::Node bitsNode(bool hasPoints) {
  std::vector<TensorDesc> inputs{{kFloat, {2, 40}}, {DType::UInt8, {3, 3, 8}}, {kFloat, {9}}};
  if (hasPoints) inputs.push_back({DType::UInt8, {6}});
  auto node = nodeOf("MatMulNBits", inputs);
  std::vector<uint8_t> codes(72);
  for (size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<uint8_t>(i * 37 + 11);
  Floats scales;
  for (int i = 0; i < 9; ++i) scales.push_back(0.25f * static_cast<float>(i + 1));
  node.setConstant(1, tensor<uint8_t>(DType::UInt8, {3, 3, 8}, codes));
  node.setConstant(2, floats({9}, scales));
  if (hasPoints) node.setConstant(3, tensor<uint8_t>(DType::UInt8, {6}, {0x21, 0x03, 0x54, 0x06, 0x87, 0x09}));
  node.integer = {{"N", 3}, {"K", 40}, {"bits", 4}, {"block_size", 16}};
  return node;
}

TEST(ComMicrosoft, WeightsOfFourBitsHaveScalesAndZeroPointsPerBlock) {
  Floats x;
  for (int i = 0; i < 80; ++i) x.push_back(static_cast<float>(i % 7) - 3);
  for (const bool hasPoints : {false, true}) {
    Values expected;
    for (int row = 0; row < 2; ++row)
      for (int n = 0; n < 3; ++n) {
        double sum = 0;
        for (int k = 0; k < 40; ++k) {
          const int byte = (n * 48 + k) / 2, code = (byte * 37 + 11) % 256 >> (k % 2 * 4) & 15;
          const int point = hasPoints ? n * 3 + k / 16 + 1 : 8;
          sum += x[static_cast<size_t>(row * 40 + k)] * 0.25 * (n * 3 + k / 16 + 1) * (code - point);
        }
        expected.push_back(sum);
      }
    auto node = bitsNode(hasPoints);
    expectOutputs(node, {floats({2, 40}, x)}, {{{2, 3}, expected, 1e-5}});
  }
  auto wrong = bitsNode(false);
  wrong.integer["bits"] = 3;
  EXPECT_EQ(refusalOf(wrong), "bits must be 2, 4 or 8, got 3");
  auto size = bitsNode(false);
  size.integer["N"] = 4;
  EXPECT_EQ(refusalOf(size), "the weights must be 96 bytes of u8, got u8[3,3,8]");
}

}  // namespace
}  // namespace opkit::ops::com_microsoft
