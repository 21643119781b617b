#include "harness/model/model_compare.h"

#include <gtest/gtest.h>

#include "harness/model/bisect.h"
#include "harness/testing/broken_kernels.h"
#include "ops/builtin_ops.h"

namespace opkit::harness {
namespace {

/// x -> Neg -> Relu -> Neg.
Model smallNetwork() {
  Model model;
  const int x = model.addInput("x", {DType::Float32, {kDynamic, 37}});
  const int a = model.addNode("Neg", "first", {x})[0];
  const int b = model.addNode("Relu", "second", {a})[0];
  model.outputs = model.addNode("Neg", "third", {b});
  return model;
}

Result<CaseResult> compare(const OpRegistry& registry, const ModelCompareOptions& extra = {}) {
  ModelCompareOptions options = extra;
  options.backend = "cpu";
  options.runtime = *createRuntime("cpu");
  options.referenceBackend = "reference";
  options.referenceRuntime = *createRuntime("reference");
  return compareModel("small", smallNetwork(), registry, options);
}

TEST(ModelCompare, AgreesLayerByLayer) {
  const CaseResult result = *compare(ops::builtinOps());
  EXPECT_EQ(result.status, CaseStatus::Pass) << result.reason;
  ASSERT_EQ(result.layers.size(), 3u);
  EXPECT_EQ(result.layers[1].op, "Relu");
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
  const std::string tensor = model.tensors[static_cast<size_t>(model.nodes[1].outputs[0])].name;
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
