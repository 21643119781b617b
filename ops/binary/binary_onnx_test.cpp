// Broadcasting before opset 7.
#include "ops/features/onnx_ml_node.h"

namespace opkit::ops::binary {
namespace {

using features::expectOutput;
using features::floats;
using features::Node;

TEST(PRelu, BeforeOpset7HasASlopePerChannel) {
  const Tensor x = floats({1, 2, 2}, {-1, 2, -3, -4});
  for (const bool isConstant : {true, false})
    for (const Shape& shape : {Shape{2}, Shape{2, 1}}) {
      Node node("PRelu", {{DType::Float32, {1, 2, 2}}, {DType::Float32, shape}});
      node.domain = "";
      node.version = 6;
      const Tensor slope = floats(shape, {10, 100});
      if (isConstant) node.setConstant(1, slope);
      expectOutput(node, {x, slope}, {1, 2, 2}, {-10, 2, -300, -400});
    }
}

TEST(PRelu, BeforeOpset7MayHaveOneSlope) {
  for (const bool isConstant : {true, false})
    for (const Shape& shape : {Shape{}, Shape{1}}) {
      Node node("PRelu", {{DType::Float32, {2, 3}}, {DType::Float32, shape}});
      node.domain = "";
      const Tensor slope = floats(shape, {2});
      if (isConstant) node.setConstant(1, slope);
      expectOutput(node, {floats({2, 3}, {-1, 1, -2, 2, -3, 3}), slope}, {2, 3}, {-2, 1, -4, 2, -6, 3});
    }
}

}  // namespace
}  // namespace opkit::ops::binary
