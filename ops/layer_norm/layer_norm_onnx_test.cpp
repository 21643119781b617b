// The types of LayerNormalization's further outputs.
#include "ops/features/onnx_ml_node.h"

namespace opkit::ops::layer_norm {
namespace {

TEST(LayerNormOnnx, StatisticsAreF32) {
  for (const DType type : {DType::Float64, DType::Float32, DType::Float16}) {
    features::Node node("LayerNormalization", {{type, {2, 3}}, {type, {3}}});
    node.domain = "";
    node.version = 17;
    node.usedOutputs = 3;
    const Status imported = node.import();
    ASSERT_TRUE(imported.isOk()) << imported.message();
    std::vector<TensorDesc> outputs;
    const std::vector<Tensor> inputs = {features::floats({2, 3}, {1, 2, 3, 4, 5, 9}), features::floats({3}, {1, 1, 1})};
    const Status run = features::runNetwork(node, "cpu", inputs, [&](size_t i, const Tensor& y) {
      outputs.push_back(y.desc);
      const std::vector<double> values = OracleTensor::fromTensor(y).real;
      EXPECT_TRUE(i != 1 || (values[0] == 2 && values[1] == 6));
    });
    ASSERT_TRUE(run.isOk()) << run.message();
    EXPECT_EQ(outputs, (std::vector<TensorDesc>{{type, {2, 3}}, {DType::Float32, {2, 1}}, {DType::Float32, {2, 1}}}));
  }
}

}  // namespace
}  // namespace opkit::ops::layer_norm
