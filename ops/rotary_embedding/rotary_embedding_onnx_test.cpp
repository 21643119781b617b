#include "ops/features/onnx_ml_node.h"

namespace opkit::ops::rotary_embedding {
namespace onnx_test {
namespace {

using features::floats;
using features::Node;

TEST(RotaryEmbeddingOnnx, PositionsChooseRowsOfBothCaches) {
  Node node(
      "RotaryEmbedding",
      {{DType::Float32, {1, 1, 2, 2}}, {DType::Float32, {3, 1}}, {DType::Float32, {3, 1}}, {DType::Int64, {1, 2}}});
  node.domain = "";
  node.version = 23;
  const Tensor x = floats({1, 1, 2, 2}, {3, 4, 5, 6});
  const Tensor cosines = floats({3, 1}, {1, 0.5f, 0}), sines = floats({3, 1}, {0, 0.25f, 1});
  const Tensor positions = features::tensor<int64_t>(DType::Int64, {1, 2}, {2, 1});
  features::expectOutput(node, {x, cosines, sines, positions}, {1, 1, 2, 2}, {-4, 3, 1, 4.25});
}

}  // namespace
}  // namespace onnx_test
}  // namespace opkit::ops::rotary_embedding
