#include "engine/graph/encoder.h"

#include <gtest/gtest.h>

#include "engine/backend/backend_registry.h"
#include "engine/op/decomposition.h"
#include "engine/testing/test_ops.h"

namespace opkit {
namespace encoder_test {
namespace {

/// y = x + View(w), z = View(w).
Status plusFlatParts(const ShapeArgs&, std::span<const TensorDesc> outputs, Decomposition& parts) {
  const auto view = parts.add("View", {parts.input(1)});
  parts.setOutput(0, parts.add("Plus", {parts.input(0), view}));
  if (outputs.size() > 1) parts.setOutput(1, view);
  return Status::ok();
}

Result<std::vector<TensorDesc>> plusFlatShapes(const ShapeArgs& args) {
  return std::vector{args.input(0), TensorDesc{DType::Float32, {args.input(1).elements()}}};
}

OpRegistry makeOps() {
  OpRegistry registry = test::makeTestOps();
  registry.add({.type = "PlusFlat",
                .inputs = {{"x"}, {"w"}},
                .outputs = {{"y"}, {"z", kAnyDType, Port::Kind::Optional}},
                .inferShapes = plusFlatShapes,
                .decompose = plusFlatParts,
                .oracle = [](const OracleArgs&) { return Status::internal("not asked for"); }});
  return registry;
}

class EncoderTest : public testing::Test {
 protected:
  /// PlusFlat of the input x [4] and a constant w [2, 2], encoded.
  Result<EncodedGraph> encodePlusFlat(size_t outputs) {
    x_ = model_.addInput("x", {DType::Float32, {4}});
    w_ = model_.addConstant("w", *Tensor::fromValues<float>({DType::Float32, {2, 2}}, {1, 2, 3, 4}));
    model_.outputs = model_.addNode("PlusFlat", "node", {x_, w_}, {}, outputs);
    encoder_ = std::make_unique<GraphEncoder>(model_, registry_, *reference_, EncodeOptions{});
    return encoder_->encode(std::vector{*Tensor::onHost({DType::Float32, {4}})});
  }

  OpRegistry registry_ = makeOps();
  std::unique_ptr<Backend> reference_ =
      std::move(*(*createRuntime("reference"))->createBackend(registry_, {.threads = 1}));
  Model model_;
  TensorId x_, w_;
  std::unique_ptr<GraphEncoder> encoder_;
};

TEST_F(EncoderTest, AReshapedConstantInADecompositionIsTheSameConstant) {
  auto graph = encodePlusFlat(1);
  ASSERT_TRUE(graph) << graph.error().toString();
  ASSERT_EQ(graph->commands.size(), 1u);
  const TensorId flat = graph->commands[0].inputs[1];
  ASSERT_TRUE(graph->contents[flat].has_value());
  EXPECT_TRUE(graph->constant[flat]);
  EXPECT_EQ(graph->contents[flat]->buffer, model_.tensors[w_].constant->buffer);
  EXPECT_EQ(graph->contents[flat]->desc, (TensorDesc{DType::Float32, {4}}));
}

TEST_F(EncoderTest, AnOutputOfADecompositionIsNoConstant) {
  auto graph = encodePlusFlat(2);
  ASSERT_TRUE(graph) << graph.error().toString();
  const TensorId flat = model_.outputs[1];
  ASSERT_TRUE(graph->contents[flat].has_value());
  EXPECT_FALSE(graph->constant[flat]);  // another input shape may make another one, and nodes behind it fold
  EXPECT_NE(graph->contents[flat]->buffer, model_.tensors[w_].constant->buffer);
}

}  // namespace
}  // namespace encoder_test
}  // namespace opkit
