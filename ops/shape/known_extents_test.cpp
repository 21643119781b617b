#include "ops/shape/known_extents.h"

#include <gtest/gtest.h>

#include "ops/builtin_ops.h"

namespace opkit::ops::shape {
namespace {

constexpr int64_t kOpen = kDynamic;

struct Net {
  Model model;

  TensorId input(const Shape& shape) {
    return model.addInput("x" + std::to_string(model.tensors.size()), {DType::Float32, shape});
  }
  TensorId zeros(const Shape& shape) {
    return model.addConstant("c" + std::to_string(model.tensors.size()), *Tensor::onHost({DType::Float32, shape}));
  }
  TensorId list(const std::vector<int64_t>& values) {
    return model.addConstant(
        "l" + std::to_string(model.tensors.size()),
        *Tensor::fromValues<int64_t>({DType::Int64, {static_cast<int64_t>(values.size())}}, values));
  }
  TensorId node(const char* type, std::vector<TensorId> inputs) {
    return model.addNode(type, "n" + std::to_string(model.nodes.size()), std::move(inputs))[0];
  }
  int64_t extent(TensorId tensor, size_t fromEnd = 0) const {
    return KnownExtents(model, builtinOps()).extent(tensor, fromEnd);
  }
};

TEST(KnownExtents, FollowTheShapeRules) {
  Net net;
  const TensorId x = net.input({2, 3, 6, 5});
  const TensorId y = net.node("Conv", {x, net.zeros({4, 3, 3, 3})});
  EXPECT_EQ(net.extent(y), 3);
  EXPECT_EQ(net.extent(y, 2), 4);
  EXPECT_EQ(net.extent(y, 4), kOpen) << "there is no such axis";
  EXPECT_EQ(net.extent(net.node("GlobalAveragePool", {y})), 1);
}

TEST(KnownExtents, PassOpenExtentsBy) {
  Net net;
  const TensorId x = net.input({kOpen, kOpen, 8});
  EXPECT_EQ(net.extent(x, 1), kOpen);
  EXPECT_EQ(net.extent(net.node("Relu", {x})), 8);
  const TensorId product = net.node("MatMul", {x, net.zeros({8, 12})});
  EXPECT_EQ(net.extent(product), 12);
  EXPECT_EQ(net.extent(net.node("Add", {product, net.zeros({12})})), 12);
  EXPECT_EQ(net.extent(net.node("Transpose", {x}), 2), 8);
  const TensorId heads = net.node("Reshape", {product, net.list({0, -1, 3, 4})});
  EXPECT_EQ(net.extent(heads), 4);
  EXPECT_EQ(net.extent(heads, 2), kOpen);
}

TEST(KnownExtents, BroadcastingIsNotAssumedAway) {
  Net net;
  const TensorId open = net.input({2, kOpen}), one = net.input({2, 1});
  EXPECT_EQ(net.extent(net.node("Add", {open, net.zeros({7})})), 7);
  EXPECT_EQ(net.extent(net.node("Add", {open, net.zeros({1})})), kOpen);
  EXPECT_EQ(net.extent(net.node("Add", {open, one})), kOpen);
  EXPECT_EQ(net.extent(net.node("Mul", {one, net.zeros({7})})), 7);
}

/// In stages and subgraphs descriptions are placeholders, also of the rank.
TEST(KnownExtents, AnInputWithoutExtentsTellsNothing) {
  Net net;
  for (const Shape& shape : {Shape{}, Shape{kOpen, kOpen}}) {
    const TensorId x = net.input(shape);
    EXPECT_EQ(net.extent(x), kOpen);
    EXPECT_EQ(net.extent(net.node("Add", {x, net.zeros({1})})), kOpen);
    EXPECT_EQ(net.extent(net.node("MatMul", {x, net.zeros({8, 12})})), 12) << "a matrix or a list";
  }
}

}  // namespace
}  // namespace opkit::ops::shape
