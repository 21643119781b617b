#include "engine/graph/stages.h"

#include <gtest/gtest.h>

#include "engine/testing/test_ops.h"

namespace opkit {
namespace stages_test {
namespace {

std::vector<std::string> typesOf(const Model& model) {
  std::vector<std::string> types;
  for (const ModelNode& node : model.nodes) types.push_back(node.type);
  return types;
}

/// As many as x has positive elements: -1, in the second stage, after View(Negate(1)) if `viewed`.
Model countedModel(bool viewed) {
  Model model;
  const TensorId x = model.addInput("x", {DType::Float32, {kDynamic}});
  const TensorId one = model.addConstant("one", *Tensor::fromValues<float>({DType::Float32, {1, 1}}, {1}));
  TensorId value = model.addNode("Negate", "negated", {one})[0];
  if (viewed) value = model.addNode("View", "viewed", {value})[0];
  const TensorId count = model.addNode("CountPositive", "count", {x})[0];
  model.outputs = model.addNode("FillTo", "filled", {count, value});
  return model;
}

TEST(Stages, TheStageThatReadsAComputedConstantComputesIt) {
  const OpRegistry registry = test::makeTestOps();
  const Model model = countedModel(true);
  const std::vector<Stage> stages = splitIntoStages(model, registry);
  ASSERT_EQ(stages.size(), 2u);
  EXPECT_EQ(typesOf(stages[0].model), std::vector<std::string>{"CountPositive"});
  EXPECT_EQ(typesOf(stages[1].model), (std::vector<std::string>{"Negate", "View", "FillTo"}));
  EXPECT_EQ(stages[1].inputs, std::vector{model.findTensor("count")});
  for (const Stage& stage : stages) EXPECT_TRUE(validateModel(stage.model, registry).isOk());
}

TEST(Stages, AComputedConstantThatIsAnOutputBelongsToTheFirstStage) {
  const OpRegistry registry = test::makeTestOps();
  Model model = countedModel(false);
  const TensorId negated = model.findTensor("negated");
  model.outputs.push_back(negated);
  const std::vector<Stage> stages = splitIntoStages(model, registry);
  ASSERT_EQ(stages.size(), 2u);
  EXPECT_EQ(typesOf(stages[0].model), (std::vector<std::string>{"Negate", "CountPositive"}));
  EXPECT_EQ(std::ranges::count(stages[0].outputs, negated), 1);
  EXPECT_EQ(typesOf(stages[1].model), (std::vector<std::string>{"Negate", "FillTo"}));
}

}  // namespace
}  // namespace stages_test
}  // namespace opkit
