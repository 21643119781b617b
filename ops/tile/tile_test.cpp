// Tile before opset 6, which repeated along one axis.
#include "ops/features/onnx_ml_node.h"

namespace opkit::ops::tile {
namespace {

using features::expectOutput;
using features::floats;
using features::Node;
using features::tensor;

Node oldTile(const TensorDesc& tiles, const TensorDesc& axis) {
  Node node("Tile", {{DType::Float32, {2, 3}}, tiles, axis});
  node.domain = "";
  return node;
}

const Tensor kX = floats({2, 3}, {1, 2, 3, 4, 5, 6});

TEST(Tile, BeforeOpset6RepeatsAlongAnAxis) {
  Node whole = oldTile({DType::Int64, {}}, {DType::Int64, {}});
  whole.setConstant(1, tensor<int64_t>(DType::Int64, {}, {2}));
  whole.setConstant(2, tensor<int64_t>(DType::Int64, {}, {1}));
  expectOutput(whole, {kX}, {2, 6}, {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6});
  Node real = oldTile({DType::Float32, {1}}, {DType::Float32, {1}});  // the type that the specification names
  real.setConstant(1, floats({1}, {2}));
  real.setConstant(2, floats({1}, {0}));
  expectOutput(real, {kX}, {4, 3}, {1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6});
}

TEST(Tile, BeforeOpset6TakesComputedNumbers) {
  Node node = oldTile({DType::Int64, {}}, {DType::Int64, {}});
  expectOutput(node, {kX, tensor<int64_t>(DType::Int64, {}, {3}), tensor<int64_t>(DType::Int64, {}, {0})}, {6, 3},
               {1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6});
}

TEST(Tile, BeforeOpset6NeedsAllInputs) {
  Node node = oldTile({DType::Int64, {}}, {DType::Int64, {}});
  node.leaveOut(2);
  EXPECT_EQ(features::refusalOf(node), "Tile: input 2 is missing");
}

}  // namespace
}  // namespace opkit::ops::tile
