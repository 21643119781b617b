// Import rules that make several nodes, against plain arithmetic.
#include <cmath>

#include "ops/features/onnx_ml_node.h"

namespace opkit::ops::unary {
namespace {

TEST(UnaryOnnx, SwiGluIsSwishOfTheGateTimesTheValue) {
  for (const float alpha : {1.0f, 1.7f}) {
    features::Node node("SwiGLU", {{DType::Float32, {2, 2}}, {DType::Float32, {2, 2}}});
    node.domain = "";
    if (alpha != 1.0f) node.number["alpha"] = alpha;
    const features::Floats gate{1, -2, 0, 30}, value{3, 0.5f, -7, -1};
    std::vector<double> expected;
    for (size_t i = 0; i < gate.size(); ++i)
      expected.push_back(static_cast<double>(gate[i]) / (1 + std::exp(-static_cast<double>(alpha * gate[i]))) *
                         static_cast<double>(value[i]));
    features::expectOutput(node, {features::floats({2, 2}, gate), features::floats({2, 2}, value)}, {2, 2}, expected);
  }
}

}  // namespace
}  // namespace opkit::ops::unary
