#include "harness/network/network_cases.h"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/backend/device_test_support.h"
#include "harness/cases/case_file.h"
#include "harness/cases/case_writer.h"
#include "harness/network/data_flow.h"
#include "harness/network/data_form.h"
#include "harness/testing/mixed_network.h"
#include "ops/builtin_ops.h"

namespace opkit::harness {
namespace {

const NetworkInputs kThreeRows = {.shapes = {{"x", {3, 8}}}};

Result<NetworkCases> casesOf(const Model& model, const OpRegistry& registry = ops::builtinOps(),
                             const NetworkInputs& inputs = kThreeRows, const std::string& backend = "cpu") {
  return networkCases(model, registry, {{backend, *createRuntime(backend)}}, inputs);
}

const NetworkCase& caseOf(const NetworkCases& found, const std::string& node) {
  for (const NetworkCase& one : found.cases)
    if (std::ranges::count(one.nodes, node) > 0) return one;
  ADD_FAILURE() << "no case stands for " << node;
  return found.cases.at(0);
}

TEST(NetworkCases, NodesThatDifferInWeightsAreOneCase) {
  const auto found = casesOf(mixedNetwork());
  ASSERT_TRUE(found) << found.error().message();
  ASSERT_EQ(found->cases.size(), 4u);
  const NetworkCase& product = caseOf(*found, "second");
  EXPECT_EQ(product.nodes, (std::vector<std::string>{"first", "second"}));
  EXPECT_EQ(product.description.inputText(), "f32[3,8],f32[8,8]");
  EXPECT_EQ(product.description.constants, std::vector<size_t>{1});
  EXPECT_EQ(product.description.data.at(1), R"({"range":[-0.984,0.984]})") << "of the first node's weights";
}

TEST(NetworkCases, ValuesThatDecideShapesStay) {
  const auto found = casesOf(mixedNetwork());
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(caseOf(*found, "rows").description.data.at(1), R"({"values":[-1,4]})");
  EXPECT_EQ(caseOf(*found, "pairs").description.data.at(1), R"({"values":[-1,2]})");
  EXPECT_EQ(caseOf(*found, "pairs").nodes.size(), 1u);
}

TEST(NetworkCases, TheLargestShareComesFirst) {
  const auto found = casesOf(mixedNetwork());
  ASSERT_TRUE(found) << found.error().message();
  double sum = 0, last = 1;
  for (const NetworkCase& one : found->cases) {
    ASSERT_EQ(one.shares.size(), 1u);
    EXPECT_LE(one.shares[0], last);
    last = one.shares[0];
    sum += last;
  }
  for (const LeftOut& node : found->leftOut) sum += node.shares.at(0);
  EXPECT_GT(found->cases[0].shares[0], 0);
  EXPECT_NEAR(sum, 1, 1e-6) << "the CPU copies nothing";
}

TEST(NetworkCases, WhatIsNoCaseIsNamedWithTheReason) {
  const auto found = casesOf(mixedNetwork());
  ASSERT_TRUE(found) << found.error().message();
  ASSERT_EQ(found->leftOut.size(), 1u);
  EXPECT_EQ(found->leftOut[0].name, "choose");
  EXPECT_EQ(found->leftOut[0].reason, "control flow");
  EXPECT_EQ(found->leftOut[0].inside, 2u);
}

TEST(NetworkCases, ANodeBehindControlFlowHasTheShapesOfTheRun) {
  const auto found = casesOf(mixedNetwork());
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(caseOf(*found, "after").description.op, "Relu");
  EXPECT_EQ(caseOf(*found, "after").description.inputs[0]->shape, (Shape{6, 4}));
}

TEST(NetworkCases, StringsAreNoCase) {
  Model model;
  const TensorId x = model.addInput("x", {DType::Float32, {8}});
  const TensorId text = model.addInput("text", {DType::String, {2}});
  model.outputs = {model.addNode("Relu", "relu", {x})[0], model.addNode("StringConcat", "join", {text, text})[0]};
  const auto found = casesOf(model, ops::builtinOps(), {});
  ASSERT_TRUE(found) << found.error().message();
  ASSERT_EQ(found->leftOut.size(), 1u);
  EXPECT_EQ(found->leftOut[0].reason, "strings are not tensors of numbers");
  EXPECT_EQ(found->cases.size(), 1u);
}

TEST(NetworkCases, AnOpenExtentNeedsAShape) {
  EXPECT_EQ(casesOf(mixedNetwork(), ops::builtinOps(), {}).error().message(),
            "input 'x' is f32[?,8]: give its shape, as in --input x=1x8");
  Model started = mixedNetwork();
  started.tensors[started.inputs[0]].startShape = {5, 8};
  const auto found = casesOf(started, ops::builtinOps(), {});
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(caseOf(*found, "first").description.inputText(), "f32[5,8],f32[8,8]");
}

/// A registry without kernels: every backend runs the oracle.
TEST(NetworkCases, RefusalsAndOraclesAreDeclared) {
  OpRegistry cards;
  cards.add(*ops::builtinOps().find("Relu"));
  Model model;
  model.outputs = model.addNode("Relu", "relu", {model.addInput("x", {DType::Float32, {8}})});
  const auto onCpu = casesOf(model, cards, {});
  ASSERT_TRUE(onCpu) << onCpu.error().message();
  EXPECT_EQ(onCpu->cases.at(0).description.unproved.count("cpu"), 1u);
  EXPECT_TRUE(onCpu->cases[0].description.fallback.empty());
  OPKIT_NEEDS_DEVICE(createRuntime("vulkan"));
  const auto onVulkan = casesOf(model, cards, {}, "vulkan");
  ASSERT_TRUE(onVulkan) << onVulkan.error().message();
  EXPECT_EQ(onVulkan->cases.at(0).description.fallback.at("vulkan"), "Relu: no kernel");
}

TEST(DataFlow, ShapesAreNoData) {
  Model model;
  const TensorId x = model.addInput("x", {DType::Float32, {kDynamic, 8}});
  const TensorId shape = model.addNode("Shape", "shape", {x})[0];
  const TensorId filled = model.addNode("ConstantOfShape", "filled", {shape})[0];
  const TensorId found = model.addNode("NonZero", "found", {x}, {}, 2)[0];
  const TensorId count = model.nodes.back().outputs[1];
  const TensorId counted = model.addNode("ConstantOfShape", "counted", {count})[0];
  const TensorId weights = model.addConstant("w", *Tensor::fromValues<float>({DType::Float32, {1}}, {2}));
  const TensorId negated = model.addNode("Neg", "negated", {weights})[0];
  const DataFlow flow(model, ops::builtinOps());
  EXPECT_TRUE(flow.isConstant(negated));
  EXPECT_FALSE(flow.isConstant(shape)) << "it changes with the shape of x";
  EXPECT_FALSE(flow.fromData(shape));
  EXPECT_FALSE(flow.shapeFromData(filled));
  EXPECT_TRUE(flow.fromData(found));
  EXPECT_FALSE(flow.shapeFromData(found)) << "it is as long as it may become";
  EXPECT_TRUE(flow.shapeFromData(counted));
}

Tensor floats(const std::vector<float>& values) {
  return *Tensor::fromValues<float>({DType::Float32, {static_cast<int64_t>(values.size())}}, values);
}

TEST(DataForm, KeepsTheRange) {
  EXPECT_EQ(randomForm(floats({0.12345f, 2, -1.9999f}), true), R"({"range":[-1.99,2.0]})") << "inside";
  EXPECT_EQ(randomForm(floats({1e-7f, 3e-7f, INFINITY, NAN}), true), R"({"range":[1.01e-07,3e-07]})");
  EXPECT_EQ(randomForm(floats({1.00001f, 1.00002f}), true), R"({"range":[1.0000100135803223,1.0000200271606445]})")
      << "too narrow to round";
  EXPECT_EQ(randomForm(floats({-INFINITY, -INFINITY}), true), R"({"value":"-inf"})");
  EXPECT_EQ(randomForm(floats({0, 0}), false), "") << "values of a run that are equal by chance";
  EXPECT_EQ(randomForm(floats({}), true), "");
  const auto integers = [](const std::vector<int64_t>& values) {
    return *Tensor::fromValues<int64_t>({DType::Int64, {static_cast<int64_t>(values.size())}}, values);
  };
  EXPECT_EQ(randomForm(integers({5, -3, 7}), true), R"({"values":[5,-3,7]})");
  EXPECT_EQ(randomForm(integers({5, -3, 7}), false), R"({"values":[5,-3,7]})") << "each column of indices has a range";
  std::vector<int64_t> many(1025, 0);
  many[7] = 9;
  EXPECT_EQ(randomForm(integers(many), false), R"({"range":[0,9]})");
  EXPECT_EQ(exactForm(integers({INT64_MAX, -1})), R"({"values":[9223372036854775807,-1]})");
  EXPECT_EQ(exactForm(floats({0.5f, INFINITY})), R"({"values":[0.5,"inf"]})");
}

TEST(CaseWriter, ParseCaseFileReadsTheSameCases) {
  std::vector<Case> cases;
  for (const char* id : {R"(Softmax{"axis":0}/f32[3,4]/normal/seed=7)",
                         R"(Clip/f16[9],-,f16[]/designed/seed=11/constant=2/data=[null,null,{"value":2.0}])",
                         R"(Reshape/f32[4,4],i64[2]/designed/seed=7/data=[{"range":[-1.0,1.0]},{"values":[-1,8]}])",
                         R"(TopK/f32[20],i64[1]/designed/seed=7/outputs=2/data=[null,{"values":[3]}])"})
    cases.push_back(*parseCaseId(id));
  cases[0].name = "with \"quotes\" and \xff";
  cases[0].bench = true;
  cases[1].fallback["vulkan"] = "no kernel";
  cases[1].unproved["cpu"] = "a reason";
  const auto read = parseCaseFile("text", caseFileText(cases), ops::builtinOps());
  ASSERT_TRUE(read) << read.error().message();
  ASSERT_EQ(read->groups.size(), cases.size());
  for (size_t i = 0; i < cases.size(); ++i) {
    ASSERT_EQ(read->groups[i].cases.size(), 1u);
    const Case& c = read->groups[i].cases[0];
    EXPECT_EQ(c.id(), cases[i].id());
    EXPECT_EQ(c.bench, cases[i].bench);
    EXPECT_EQ(c.fallback, cases[i].fallback);
    EXPECT_EQ(c.unproved, cases[i].unproved);
  }
}

}  // namespace
}  // namespace opkit::harness
