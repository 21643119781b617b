// Subgraphs and functions whose names hide each other, defaults of inputs, and graphs as deep as the limit: from ONNX
// to the values of a run.
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "engine/base/nesting.h"
#include "engine/import/onnx/onnx_importer.h"
#include "engine/import/onnx/onnx_proto.h"
#include "engine/runtime/session.h"
#include "engine/testing/small_stack.h"
#include "ops/builtin_ops.h"

namespace opkit::harness {
namespace {

using Values = std::vector<float>;

/// `text` is a ModelProto; opsets 17 of ai.onnx and 1 of "own" are added.
std::string bytesOf(const std::string& text) {
  onnx::ModelProto proto;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &proto)) << text;
  proto.set_ir_version(8);
  const auto addOpsets = [](auto& message) {
    message.add_opset_import()->set_version(17);
    onnx::OperatorSetIdProto& own = *message.add_opset_import();
    own.set_domain("own");
    own.set_version(1);
  };
  addOpsets(proto);
  for (onnx::FunctionProto& function : *proto.mutable_functions()) {
    function.set_domain("own");
    addOpsets(function);
  }
  return proto.SerializeAsString();
}

Result<Model> import(const std::string& bytes) {
  return importOnnx({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, ops::builtinOnnxRules(),
                    ops::builtinOps());
}

Result<std::unique_ptr<Session>> sessionOf(const std::string& bytes) {
  OPKIT_ASSIGN(Model model, import(bytes));
  OPKIT_ASSIGN(const auto interpreter, Interpreter::create(std::move(model), ops::builtinOps()));
  return interpreter->createSession({.threads = 1});
}

/// Output 0 of a run with these values of "x", and a true "c" if there is one.
Result<Values> run(Session& session, const Values& x) {
  OPKIT_TRY(session.resizeInput("x", {static_cast<int64_t>(x.size())}));
  std::ranges::copy(x, session.fillInput("x")->data<float>().begin());
  if (Tensor* c = session.fillInput("c")) c->data<uint8_t>()[0] = 1;
  OPKIT_TRY(session.run());
  const std::span<float> y = session.outputs()[0].data<float>();
  return Values(y.begin(), y.end());
}

Values resultOf(const std::string& text, const Values& x) {
  auto session = sessionOf(bytesOf(text));
  EXPECT_TRUE(session) << session.error().toString();
  if (!session) return {};
  auto values = run(**session, x);
  EXPECT_TRUE(values) << values.error().toString();
  return values ? *std::move(values) : Values();
}

std::string named(const std::string& field, const std::string& name) {
  return fmt::format("{} {{ name: '{}' }} ", field, name);
}

std::string node(const std::string& type, const std::vector<std::string>& inputs, const std::string& output,
                 const std::string& attributes = "", const std::string& domain = "") {
  std::string text =
      fmt::format("node {{ op_type: '{}' domain: '{}' output: '{}' {} ", type, domain, output, attributes);
  for (const std::string& input : inputs) text += fmt::format("input: '{}' ", input);
  return text + "} ";
}

std::string graph(const std::string& name, const std::string& content) {
  return fmt::format("attribute {{ name: '{}' type: GRAPH g {{ {} }} }} ", name, content);
}

std::string scalar(const std::string& name, int64_t value) {
  return fmt::format("initializer {{ name: '{}' data_type: 7 int64_data: {} }} ", name, value);
}

std::string floats(const std::string& name, const std::string& dims, const std::string& values) {
  return fmt::format("initializer {{ name: '{}' data_type: 1 {} float_data: [{}] }} ", name, dims, values);
}

const std::string kX = "input { name: 'x' type { tensor_type { elem_type: 1 shape { dim { dim_param: 'n' } } } } } ";
const std::string kC = "input { name: 'c' type { tensor_type { elem_type: 9 shape { } } } } ";

std::string function(const std::string& name, const std::vector<std::string>& inputs, const std::string& nodes) {
  std::string text = fmt::format("functions {{ name: '{}' output: 'y' {} ", name, nodes);
  for (const std::string& input : inputs) text += fmt::format("input: '{}' ", input);
  return text + "} ";
}

std::string mainGraph(const std::string& content) {
  return fmt::format("graph {{ name: 'g' {} output {{ name: 'out' }} {} }} ", kX, content);
}

/// y = a + n * b: the body's own 'a' is what it carries, `b` is the function's.
std::string accumulate() {
  return function("Accumulate", {"a", "b", "n"},
                  node("Loop", {"n", "", "a"}, "y",
                       graph("body", named("input", "i") + named("input", "k") + named("input", "a") +
                                         node("Add", {"a", "b"}, "a2") + node("Identity", {"k"}, "k2") +
                                         named("output", "k2") + named("output", "a2"))));
}

TEST(NestedGraphs, InputsOfALoopHideThoseOfTheFunction) {
  EXPECT_EQ(resultOf(accumulate() + mainGraph(scalar("n", 3) + node("Accumulate", {"x", "x", "n"}, "out", "", "own")),
                     {1, -2}),
            (Values{4, -8}));
}

TEST(NestedGraphs, InputsOfAScanHideThoseOfTheFunction) {
  const std::string body = graph("body", named("input", "a") + named("input", "e") + node("Add", {"a", "b"}, "t") +
                                             node("Add", {"t", "e"}, "a2") + named("output", "a2"));
  const std::string scan =
      node("Scan", {"a", "s"}, "y", "attribute { name: 'num_scan_inputs' type: INT i: 1 } " + body);
  EXPECT_EQ(resultOf(function("Sum", {"a", "b", "s"}, scan) + mainGraph(floats("s", "dims: 2 dims: 2", "1, 2, 10, 20") +
                                                                        node("Sum", {"x", "x", "s"}, "out", "", "own")),
                     {1, 100}),
            (Values{3 * 1 + 11, 3 * 100 + 22}));
}

TEST(NestedGraphs, FunctionsInFunctionsHideNames) {
  const std::string outer = function(
      "Outer", {"b", "a", "n"}, node("Accumulate", {"a", "a", "n"}, "t", "", "own") + node("Sub", {"t", "b"}, "y"));
  EXPECT_EQ(
      resultOf(accumulate() + outer + mainGraph(scalar("n", 4) + node("Outer", {"x", "x", "n"}, "out", "", "own")),
               {1, 3}),
      (Values{4, 12}));
}

TEST(NestedGraphs, AnInitializerHidesAnInputOfTheFunction) {
  const std::string yes =
      graph("then_branch", floats("b", "dims: 1", "10") + node("Add", {"a", "b"}, "r") + named("output", "r"));
  const std::string no = graph("else_branch", node("Add", {"a", "b"}, "r") + named("output", "r"));
  EXPECT_EQ(resultOf(function("F", {"k", "a", "b"}, node("If", {"k"}, "y", yes + no)) +
                         mainGraph(kC + node("F", {"c", "x", "x"}, "out", "", "own")),
                     {1, 2}),
            (Values{11, 12}));
}

TEST(NestedGraphs, AValueHidesAnInputOfTheFunctionThroughTwoLevels) {
  const std::string inner = graph("then_branch", node("Mul", {"a", "b"}, "y") + named("output", "y")) +
                            graph("else_branch", node("Abs", {"b"}, "y") + named("output", "y"));
  const std::string outer =
      graph("then_branch", node("Neg", {"b"}, "a") + node("If", {"k"}, "q", inner) + named("output", "q")) +
      graph("else_branch", node("Abs", {"b"}, "q") + named("output", "q"));
  EXPECT_EQ(resultOf(function("F", {"k", "a", "b"}, node("If", {"k"}, "y", outer)) +
                         mainGraph(kC + node("F", {"c", "x", "x"}, "out", "", "own")),
                     {2, 3}),
            (Values{-4, -9}));
}

TEST(NestedGraphs, NamesOfTheModelCaptureNoneOfAFunction) {
  // The call would rename the loop's own 'a' to a name that its argument has already.
  const std::string call =
      fmt::format("node {{ name: 'f' {}", node("Accumulate", {"f.1/a", "f.1/a", "n"}, "out", "", "own").substr(7));
  EXPECT_EQ(resultOf(accumulate() + mainGraph(scalar("n", 3) + node("Neg", {"x"}, "f.1/a") + call), {1}), Values{-4});
}

/// y = -x in the deepest of `depth` branches that are taken.
std::string nestedIfs(size_t depth) {
  std::string content = node("Neg", {"x"}, "out") + named("output", "out");
  const std::string other = graph("else_branch", node("Abs", {"x"}, "out") + named("output", "out"));
  for (size_t d = 0; d < depth; ++d) {
    content = node("If", {"c"}, "out", graph("then_branch", content) + other);
    if (d + 1 < depth) content += named("output", "out");
  }
  return mainGraph(kC + content);
}

TEST(NestedGraphs, AsDeepAsTheLimitRunOnASmallStack) {
  const std::string bytes = bytesOf(nestedIfs(kMaxNesting));
  test::onSmallStack([&] {
    auto session = sessionOf(bytes);
    ASSERT_TRUE(session) << session.error().toString();
    const auto values = run(**session, {1, -2});
    ASSERT_TRUE(values) << values.error().toString();
    EXPECT_EQ(*values, (Values{-1, 2}));
    EXPECT_EQ((*session)->placement().size(), kMaxNesting + 1);
    EXPECT_TRUE(readModel(*writeModel(*import(bytes))).has_value());
  });
}

std::string withDefault(const std::string& use) {
  return mainGraph("input { name: 'k' type { tensor_type { elem_type: 1 shape { dim { dim_param: 'm' } } } } } " +
                   floats("k", "dims: 1", "10") + use);
}

TEST(NestedGraphs, ADefaultIsReplacedBeforeTheFirstResize) {
  const std::string text = withDefault(node("Neg", {"k"}, "t") + node("Add", {"x", "t"}, "out"));
  EXPECT_EQ(resultOf(text, {1, 2}), (Values{-9, -8}));
  auto session = sessionOf(bytesOf(text));
  ASSERT_TRUE(session) << session.error().toString();
  EXPECT_EQ((*session)->inputNames(), std::vector<std::string>{"x"});
  EXPECT_EQ((*session)->defaultNames(), std::vector<std::string>{"k"});
  const Tensor value = *Tensor::fromValues<float>({DType::Float32, {2}}, {100, 200});
  EXPECT_TRUE((*session)->setDefault("k", value).isOk());
  EXPECT_EQ(*run(**session, {1, 2}), (Values{-99, -198}));
  EXPECT_EQ((*session)->setDefault("k", value).message(),
            "input 'k' has a default, which a value may replace before the first resize or run only");
  EXPECT_EQ((*session)->setDefault("x", value).message(), "no input with a default is called 'x'");
  EXPECT_EQ((*session)->resizeInput("k", {2}).message(),
            "input 'k' has a default, which takes another value and its shape together");
  EXPECT_EQ(*run(**session, {1, 2}), (Values{-99, -198})) << "for all runs";
}

TEST(NestedGraphs, ADefaultIsReplacedInSubgraphs) {
  const std::string body =
      graph("body", named("input", "i") + named("input", "p") + named("input", "v") + node("Identity", {"p"}, "p2") +
                        node("Add", {"v", "k"}, "v2") + named("output", "p2") + named("output", "v2"));
  const std::string text = withDefault(scalar("n", 3) + node("Loop", {"n", "", "x"}, "out", body));
  EXPECT_EQ(resultOf(text, {1}), Values{31});
  auto session = sessionOf(bytesOf(text));
  ASSERT_TRUE(session) << session.error().toString();
  EXPECT_TRUE((*session)->setDefault("k", *Tensor::fromValues<float>({DType::Float32, {1}}, {5})).isOk());
  auto copy = (*session)->clone();
  EXPECT_EQ(*run(**session, {1}), Values{16});
  ASSERT_TRUE(copy);
  EXPECT_EQ(*run(**copy, {2}), Values{17});
}

TEST(NestedGraphs, ADefaultThatDoesNotFitIsReplacedAgain) {
  auto session = sessionOf(bytesOf(withDefault(node("Add", {"x", "k"}, "out"))));
  ASSERT_TRUE(session) << session.error().toString();
  const auto give = [&](std::vector<float> k) {
    const Shape shape{static_cast<int64_t>(k.size())};
    return (*session)->setDefault("k", *Tensor::fromValues<float>({DType::Float32, shape}, k));
  };
  EXPECT_TRUE(give({1, 2, 3}).isOk());
  EXPECT_FALSE(run(**session, {1, 2})) << "the shapes do not broadcast";
  EXPECT_TRUE(give({5, 6}).isOk()) << "no resize succeeded yet";
  EXPECT_EQ(*run(**session, {1, 2}), (Values{6, 8}));
  EXPECT_FALSE(give({7, 8}).isOk());
}

/// A pass that changes anything drops constants without readers, and their being defaults with them.
TEST(NestedGraphs, PassesDropDefaultsThatNothingReads) {
  const std::string unused = withDefault(node("Identity", {"x"}, "t") + node("Neg", {"t"}, "out"));
  EXPECT_EQ(resultOf(unused, {1, 2}), (Values{-1, -2}));
  auto session = sessionOf(bytesOf(unused));
  ASSERT_TRUE(session) << session.error().toString();
  EXPECT_TRUE((*session)->setDefault("k", *Tensor::fromValues<float>({DType::Float32, {1}}, {5})).isOk());
  EXPECT_EQ(*run(**session, {1, 2}), (Values{-1, -2}));
}

/// Softmax of opset 12 has axis 1, which x has not.
TEST(NestedGraphs, AGraphThatACallGivesKeepsTheOpsetOfTheCaller) {
  const auto branch = [](const char* name) {
    return fmt::format("attribute {{ name: '{}' type: GRAPH ref_attr_name: 'tb' }} ", name);
  };
  const std::string chosen = "attribute: 'tb' opset_import { version: 12 } " +
                             node("If", {"c"}, "y", branch("then_branch") + branch("else_branch"));
  const std::string softmax = graph("tb", node("Softmax", {"x"}, "s") + named("output", "s"));
  EXPECT_EQ(resultOf(function("W", {"c"}, chosen) + mainGraph(kC + node("W", {"c"}, "out", softmax, "own")), {3, 3}),
            (Values{0.5f, 0.5f}));
  const std::string own = "opset_import { version: 12 } " + node("Softmax", {"v"}, "y");
  auto session = sessionOf(bytesOf(function("S", {"v"}, own) + mainGraph(node("S", {"x"}, "out", "", "own"))));
  ASSERT_TRUE(session) << session.error().toString();
  EXPECT_NE(run(**session, {3, 3}).error().message().find("Softmax: axis must be in [-1, 0], got 1"),
            std::string::npos);
}

TEST(NestedGraphs, WhatTheSpecificationForbidsIsOneLine) {
  const auto message = [](const std::string& text) {
    const auto model = import(bytesOf(text));
    return model ? std::string("accepted") : model.error().message();
  };
  const std::string body = graph("body", named("input", "i") + named("input", "p") + named("input", "v") +
                                             floats("v", "dims: 1", "1") + node("Identity", {"p"}, "p2") +
                                             node("Neg", {"v"}, "v2") + named("output", "p2") + named("output", "v2"));
  EXPECT_NE(message(mainGraph(scalar("n", 3) + node("Loop", {"n", "", "x"}, "out", body)))
                .find("input 'v' is an initializer too; only the main graph may give its inputs defaults"),
            std::string::npos);
  EXPECT_NE(
      message(function("F", {"a", "a"}, node("Neg", {"a"}, "y")) + mainGraph(node("F", {"x", "x"}, "out", "", "own")))
          .find("ONNX function 'own::F' has two inputs of one name"),
      std::string::npos);
}

}  // namespace
}  // namespace opkit::harness
