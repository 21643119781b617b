// Import rules that make several nodes, against plain arithmetic.
#include <cmath>

#include "ops/features/onnx_ml_node.h"
#include "ops/unary/unary_generated.h"

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

TEST(UnaryOnnx, ComputedLimitsOfClipAreScalars) {
  for (const Shape& limit : {Shape{}, Shape{1}, Shape{1, 1}}) {
    features::Node node("Clip", {{DType::Float32, {}}, {DType::Float32, limit}, {DType::Float32, limit}});
    node.domain = "";
    node.version = 13;
    features::expectOutput(
        node, {features::floats({}, {5}), features::floats(limit, {-1}), features::floats(limit, {3})}, {}, {3});
  }
  features::Node longer("Clip", {{DType::Float32, {2}}, {DType::Float32, {2}}});
  longer.domain = "";
  longer.version = 13;
  ASSERT_TRUE(longer.import().isOk());
  const Status run = features::runNetwork(longer, "cpu", {features::floats({2}, {1, 1}), features::floats({2}, {0, 5})},
                                          [](size_t, const Tensor&) {});
  EXPECT_NE(run.message().find("got shape []"), std::string::npos) << run.toString();
}

TEST(UnaryOnnx, ConstantLimitsOfClipAreScalars) {
  const auto clip = [](const Shape& limit, const std::vector<int64_t>& values) {
    features::Node node("Clip", {{DType::Int64, {}}, {DType::Int64, limit}});
    node.domain = "";
    node.version = 13;
    node.setConstant(1, features::tensor(DType::Int64, limit, values));
    return node;
  };
  for (const Shape& limit : {Shape{}, Shape{1}}) {
    features::Node node = clip(limit, {7});
    const Tensor x = features::tensor<int64_t>(DType::Int64, {}, {5});
    features::expectOutput(node, {x, x}, {}, {7});
  }
  features::Node longer = clip({2}, {0, 5});
  EXPECT_NE(features::refusalOf(longer).find("min must be a scalar, got [2]"), std::string::npos)
      << features::refusalOf(longer);
}

/// A clamp goes into the kernel before it; Max and Min do not.
TEST(UnaryOnnx, ConstantLimitsOfClipInHalvesAreParameters) {
  features::Node node("Clip", {{DType::Float16, {2}}, {DType::Float16, {}}, {DType::Float16, {1}}});
  node.domain = "";
  node.version = 13;
  for (size_t i : {1, 2}) {
    const Tensor limit = *Tensor::onHost({DType::Float16, i == 1 ? Shape{} : Shape{1}});
    limit.data<Half>()[0] = toHalf(i == 1 ? -1.0f : 6.0f);
    node.setConstant(i, limit);
  }
  ASSERT_TRUE(node.import().isOk());
  ASSERT_EQ(node.model.nodes.size(), 1u);
  EXPECT_EQ(node.model.nodes[NodeId(0)].type, "Clip");
  const auto params = unpackParams<UnaryParams>(node.model.nodes[NodeId(0)].params);
  EXPECT_EQ(params.alpha, -1.0f);
  EXPECT_EQ(params.beta, 6.0f);
}

}  // namespace
}  // namespace opkit::ops::unary
