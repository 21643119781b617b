// Split-1, whose lengths were an attribute or an input.
#include "ops/features/onnx_ml_node.h"

namespace opkit::ops::split {
namespace {

using features::expectOutputs;
using features::floats;
using features::Node;

Node oldSplit(const std::vector<TensorDesc>& inputs) {
  Node node("Split", inputs);
  node.domain = "";
  node.integer["axis"] = 1;
  node.usedOutputs = 2;
  return node;
}

const Tensor kX = floats({2, 3}, {1, 2, 3, 4, 5, 6});

TEST(Split, OfOpset1TakesLengthsEitherWay) {
  Node attribute = oldSplit({{DType::Float32, {2, 3}}});
  attribute.integers["split"] = {2, 1};
  expectOutputs(attribute, {kX}, {{{2, 2}, {1, 2, 4, 5}}, {{2, 1}, {3, 6}}});
  for (const bool isConstant : {true, false}) {
    Node input = oldSplit({{DType::Float32, {2, 3}}, {DType::Float32, {2}}});
    const Tensor lengths = floats({2}, {1, 2});
    if (isConstant) input.setConstant(1, lengths);
    expectOutputs(input, {kX, lengths}, {{{2, 1}, {1, 4}}, {{2, 2}, {2, 3, 5, 6}}});
  }
}

}  // namespace
}  // namespace opkit::ops::split
