// BatchNormalization before opset 9 with statistics per activation.
#include "ops/features/onnx_ml_node.h"

namespace opkit::ops::batch_norm {
namespace {

using features::expectOutput;
using features::Floats;
using features::floats;
using features::Node;

/// In inference.
Node perActivation(const Shape& x, int version) {
  const Shape place(x.begin() + 1, x.end());
  Node node("BatchNormalization", {{DType::Float32, x},
                                   {DType::Float32, place},
                                   {DType::Float32, place},
                                   {DType::Float32, place},
                                   {DType::Float32, place}});
  node.domain = "";
  node.version = version;
  node.integer["spatial"] = 0;
  node.number["epsilon"] = 0;
  if (version < 7) node.integer["is_test"] = 1;
  return node;
}

TEST(BatchNormalization, BeforeOpset9NormalisesEachPlaceByItself) {
  const Shape x{2, 2, 1, 2}, place{2, 1, 2};
  const Floats values{1, 2, 3, 4, 5, 6, 7, 8}, scale{1, 2, 3, 4}, bias{0, 10, 20, 30}, mean{1, 0, -1, 2},
      deviation{1, 2, 0.5, 4};
  std::vector<double> expected;
  Floats variance;
  for (const float one : deviation) variance.push_back(one * one);
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t p = i % 4;
    expected.push_back((values[i] - mean[p]) / deviation[p] * scale[p] + bias[p]);
  }
  for (const int version : {1, 6, 7, 8}) {
    Node node = perActivation(x, version);
    expectOutput(
        node,
        {floats(x, values), floats(place, scale), floats(place, bias), floats(place, mean), floats(place, variance)}, x,
        expected);
  }
  Node empty = perActivation({0, 3}, 7);
  const Tensor three = floats({3}, {1, 1, 1});
  expectOutput(empty, {floats({0, 3}, {}), three, three, three, three}, {0, 3}, {});
}

}  // namespace
}  // namespace opkit::ops::batch_norm
