// The rule of ONNX's RotaryEmbedding: what it refuses.
#include "ops/features/onnx_ml_node.h"

namespace opkit::ops::rotary_embedding {
namespace {

// -1 has a meaning in the operator's parameters and none in the standard.
TEST(RotaryEmbeddingOnnx, APartOfAHeadIsNotNegative) {
  const TensorDesc x{DType::Float32, {1, 2, 3, 4}}, cache{DType::Float32, {1, 3, 2}};
  features::Node node("RotaryEmbedding", {x, cache, cache});
  node.domain = "";
  node.version = 23;
  EXPECT_TRUE(node.import().isOk());
  node.integer["rotary_embedding_dim"] = -1;
  EXPECT_EQ(features::refusalOf(node), "rotary_embedding_dim must be 0 or more, got -1");
}

}  // namespace
}  // namespace opkit::ops::rotary_embedding
