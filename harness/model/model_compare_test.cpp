#include "harness/model/model_compare.h"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/graph/encoder.h"
#include "engine/graph/pass.h"
#include "harness/model/bisect.h"
#include "harness/testing/broken_kernels.h"
#include "ops/builtin_ops.h"

namespace opkit::harness {
namespace {

/// x -> Neg -> Relu -> Neg.
Model smallNetwork() {
  Model model;
  const TensorId x = model.addInput("x", {DType::Float32, {kDynamic, 37}});
  const TensorId a = model.addNode("Neg", "first", {x})[0];
  const TensorId b = model.addNode("Relu", "second", {a})[0];
  model.outputs = model.addNode("Neg", "third", {b});
  return model;
}

ModelComparison comparisonOf(Model model, const OpRegistry& registry, const ModelCompareOptions& extra = {}) {
  ModelCompareOptions options = extra;
  options.backend = "cpu";
  options.runtime = *createRuntime("cpu");
  options.referenceBackend = "reference";
  options.referenceRuntime = *createRuntime("reference");
  return {"small", std::move(model), registry, options};
}

Result<CaseResult> compare(const OpRegistry& registry, const ModelCompareOptions& extra = {}) {
  return comparisonOf(smallNetwork(), registry, extra).compareLayers();
}

TEST(ModelCompare, AgreesLayerByLayer) {
  const CaseResult result = *compare(ops::builtinOps());
  EXPECT_EQ(result.status, CaseStatus::Pass) << result.reason;
  ASSERT_EQ(result.layers.size(), 3u);
  EXPECT_EQ(result.layers[1].op, "Relu");
}

/// x -> Conv -> Relu, which the graph passes make one node.
Model fusedNetwork() {
  Model model;
  const TensorId x = model.addInput("x", {DType::Float32, {1, 3, 9, 9}});
  const Tensor weights = *Tensor::onHost({DType::Float32, {4, 3, 3, 3}});
  for (size_t i = 0; i < weights.data<float>().size(); ++i) weights.data<float>()[i] = std::sin(static_cast<float>(i));
  const TensorId w = model.addConstant("w", weights);
  const TensorId t = model.addNode("Conv", "t", {x, w})[0];
  model.outputs = model.addNode("Relu", "y", {t});
  return model;
}

TEST(ModelCompare, TensorsThatFusionRemovesAreCompared) {
  const CaseResult result = *comparisonOf(fusedNetwork(), ops::builtinOps()).compareLayers();
  EXPECT_EQ(result.status, CaseStatus::Pass) << result.reason;
  ASSERT_EQ(result.layers.size(), 2u);
  EXPECT_EQ(result.layers[0].op, "Conv");
  EXPECT_EQ(result.note, "1 tensors with the graph passes too");
}

TEST(ModelCompare, APartBehindAFusedNodeIsCutOut) {
  // Rounding departs from such a gate: first in the convolution.
  ModelCompareOptions options{.nmseGate = 1e-30};
  const CaseResult result = *comparisonOf(fusedNetwork(), ops::builtinOps(), options).compareLayers();
  ASSERT_EQ(result.status, CaseStatus::Fail);
  EXPECT_TRUE(result.layers[0].departs);
  options.backend = "cpu", options.runtime = *createRuntime("cpu");
  options.referenceBackend = "reference", options.referenceRuntime = *createRuntime("reference");
  for (const char* tensor : {"t", "y"}) {
    const auto part = bisectModel(fusedNetwork(), tensor, ops::builtinOps(), options);
    ASSERT_TRUE(part) << part.error().message();
    EXPECT_EQ(part->output, tensor);
    EXPECT_FALSE(part->comparison.pass);
  }
}

TEST(ModelCompare, NamesTheFirstOperatorThatDeparts) {
  for (const Break how : {Break::FlipsSign, Break::ReturnsNan}) {
    OpRegistry registry = ops::builtinOps();
    addBrokenCpu(registry, how);
    const CaseResult result = *compare(registry);
    EXPECT_EQ(result.status, CaseStatus::Fail);
    EXPECT_EQ(result.reason.find("'second' (Relu) is the first to depart"), 0u) << result.reason;
    EXPECT_FALSE(result.layers[0].departs);
    EXPECT_TRUE(result.layers[1].departs);
  }
}

TEST(ModelCompare, NetworksThatStoreHalvesDepartLater) {
  Model model = smallNetwork();
  EXPECT_EQ(layerGate(model, {}).nmse, 1e-8);
  model.addInput("halves", {DType::Float16, {4}});
  EXPECT_EQ(layerGate(model, {}).nmse, 1e-5);
  EXPECT_EQ(layerGate(model, {}).relative, 0x1p-5);
  EXPECT_EQ(layerGate(model, 1e-3).nmse, 1e-3);
}

TEST(ModelCompare, OutputsAgreeAsProductionRunsIt) {
  ModelComparison comparison = comparisonOf(smallNetwork(), ops::builtinOps());
  const CaseResult result = *comparison.compareOutputs();
  EXPECT_EQ(result.status, CaseStatus::Pass) << result.reason;
  EXPECT_EQ(result.id, "small/outputs");
  ASSERT_EQ(result.layers.size(), 1u);
  EXPECT_EQ(result.layers[0].tensor, "third");
  EXPECT_EQ(result.accuracy->elements, 37);
  EXPECT_EQ(comparison.compareLayers()->status, CaseStatus::Pass) << "after the outputs";
}

/// A fusion that loses the Relu: its input takes its place.
Result<size_t> loseRelu(EncodedGraph& graph, const Model&) {
  for (const EncodedCommand& command : graph.commands)
    if (command.def->type == "Relu") graph.alias[command.outputs[0]] = command.inputs[0];
  return std::erase_if(graph.commands, [](const EncodedCommand& command) { return command.def->type == "Relu"; });
}

TEST(ModelCompare, AFaultOfFusionIsFoundAsProductionRunsIt) {
  OpRegistry registry = ops::builtinOps();
  registry.addPass({"lose-relu", "a fault", GraphPass::Position::AfterLowering, nullptr, loseRelu});
  ModelComparison comparison = comparisonOf(smallNetwork(), registry);
  EXPECT_EQ(comparison.compareLayers()->status, CaseStatus::Pass) << "sessions that keep tensors fuse nothing";
  const CaseResult result = *comparison.compareOutputs();
  EXPECT_EQ(result.status, CaseStatus::Fail);
  EXPECT_EQ(result.reason.find("output 'third' is the first to depart"), 0u) << result.reason;
}

TEST(ModelCompare, ASecondRunMustMakeTheSame) {
  OpRegistry registry = ops::builtinOps();
  addBrokenCpu(registry, Break::DiffersBetweenRuns);
  const CaseResult result = *comparisonOf(smallNetwork(), registry).compareOutputs();
  EXPECT_EQ(result.status, CaseStatus::Fail);
  EXPECT_TRUE(result.failed("repeat")) << result.reason;
}

TEST(ModelCompare, ShapesOfInputsCanBeGiven) {
  EXPECT_EQ(compare(ops::builtinOps(), {.shapes = {{"x", {5, 37}}}})->layers[0].comparison.elements, 5 * 37);
  const auto unknown = compare(ops::builtinOps(), {.shapes = {{"y", {5, 37}}}});
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message().find("no input is called 'y'"), std::string::npos) << unknown.error().message();
}

TEST(Bisect, CutsOutTheBrokenNode) {
  OpRegistry registry = ops::builtinOps();
  addBrokenCpu(registry, Break::FlipsSign);
  ModelCompareOptions options;
  options.backend = "cpu";
  options.runtime = *createRuntime("cpu");
  options.referenceBackend = "reference";
  options.referenceRuntime = *createRuntime("reference");
  const Model model = smallNetwork();
  const std::string tensor = model.tensors[model.nodes[NodeId(1)].outputs[0]].name;
  const auto found = bisectModel(model, tensor, registry, options);
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(found->nodes, std::vector<std::string>{"second"});
  EXPECT_EQ(found->inputs.size(), 1u);
  EXPECT_FALSE(found->comparison.pass);
  EXPECT_FALSE(bisectModel(model, tensor, ops::builtinOps(), options)) << "nothing departs";
  EXPECT_FALSE(bisectModel(model, "nope", registry, options));
}

}  // namespace
}  // namespace opkit::harness
