#include "ops/features/onnx_ml_node.h"

namespace opkit::ops::recurrent {
namespace onnx_test {
namespace {

using features::floats;
using features::Node;
using features::tensor;

/// One hidden unit and two inputs, so that W [2, 4] and R [1, 4] cannot stand for each other. Gates are i, o, f, c.
TEST(DynamicQuantizeLstm, ComputesInFloatsWithItsWeights) {
  const std::vector<uint8_t> w{200, 90, 30, 250, 10, 140, 160, 70}, r{60, 210, 128, 180};
  const features::Floats x{0.5f, -1, 0.25f, 2};
  Node node("DynamicQuantizeLSTM", {{DType::Float32, {2, 1, 2}},
                                    {DType::UInt8, {1, 2, 4}},
                                    {DType::UInt8, {1, 1, 4}},
                                    {DType::Float32, {}},
                                    {DType::Float32, {}},
                                    {DType::Float32, {}},
                                    {DType::Float32, {}},
                                    {DType::Float32, {}},
                                    {DType::Float32, {1}},
                                    {DType::UInt8, {1}},
                                    {DType::Float32, {1}},
                                    {DType::UInt8, {1}}});
  node.domain = "com.microsoft::";
  node.integer["hidden_size"] = 1;
  for (const size_t absent : {3, 4, 5, 6, 7}) node.leaveOut(absent);
  const auto sigmoid = [](double value) { return 1 / (1 + std::exp(-value)); };
  std::vector<double> expected;
  for (double h = 0, c = 0; expected.size() < 2; expected.push_back(h)) {
    double gates[4];
    for (size_t g = 0; g < 4; ++g) {
      gates[g] = h * 0.01 * (r[g] - 120);
      for (size_t k = 0; k < 2; ++k) gates[g] += x[2 * expected.size() + k] * 0.02 * (w[4 * k + g] - 130);
    }
    c = sigmoid(gates[2]) * c + sigmoid(gates[0]) * std::tanh(gates[3]);
    h = sigmoid(gates[1]) * std::tanh(c);
  }
  const auto codes = [](Shape shape, const std::vector<uint8_t>& values) {
    return tensor<uint8_t>(DType::UInt8, std::move(shape), values);
  };
  const Tensor none = floats({}, {0});
  features::expectOutputs(node,
                          {floats({2, 1, 2}, x), codes({1, 2, 4}, w), codes({1, 1, 4}, r), none, none, none, none, none,
                           floats({1}, {0.02f}), codes({1}, {130}), floats({1}, {0.01f}), codes({1}, {120})},
                          {{{2, 1, 1, 1}, expected, 1e-5}});
}

}  // namespace
}  // namespace onnx_test
}  // namespace opkit::ops::recurrent
