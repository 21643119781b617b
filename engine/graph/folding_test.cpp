// Nodes that are computed at a resize, and nodes that are left to the kernels of the session's backend.
#include "engine/graph/folding.h"

#include <gtest/gtest.h>

#include "engine/runtime/session.h"
#include "engine/testing/test_ops.h"

namespace opkit::folding_test {
namespace {

int kernelRuns = 0;

/// y = x + 0.5: the oracle adds 1, so that the values tell who made them.
class AddHalf final : public Execution {
 public:
  Status onResize(TensorList, TensorList) override { return Status::ok(); }
  Status onExecute(TensorList inputs, TensorList outputs) override {
    ++kernelRuns;
    const std::span<float> x = inputs[0]->data<float>(), y = outputs[0]->data<float>();
    for (size_t i = 0; i < y.size(); ++i) y[i] = x[i] + 0.5f;
    return Status::ok();
  }
};

Status addOne(const OracleArgs& args) {
  for (size_t i = 0; i < args.input(0).real.size(); ++i) args.output().real[i] = args.input(0).real[i] + 1;
  return Status::ok();
}

/// With `contents`, its shape rule could read x.
OpDef adder(const char* type, bool contents, OracleFn oracle) {
  return {.type = type,
          .inputs = {{.name = "x", .dtypes = kFloats, .contents = contents}},
          .outputs = {{"y"}},
          .inferShapes = [](const ShapeArgs& args) -> Result<std::vector<TensorDesc>> {
            return std::vector{args.input(0)};
          },
          .oracle = std::move(oracle)};
}

/// f32[n] -> its first element as i64[1].
OpDef firstOf() {
  return {.type = "FirstOf",
          .inputs = {{"x", kFloats}},
          .outputs = {{"y", DTypeSet(DType::Int64)}},
          .inferShapes = [](const ShapeArgs&) -> Result<std::vector<TensorDesc>> {
            return std::vector{TensorDesc{DType::Int64, {1}}};
          },
          .oracle =
              [](const OracleArgs& args) {
                args.output().integer[0] = static_cast<int64_t>(args.input(0).real[0]);
                return Status::ok();
              }};
}

const OpRegistry& testOps() {
  static const OpRegistry registry = [] {
    OpRegistry made = test::makeTestOps();
    made.add(adder("Adder", false, addOne));
    made.add(adder("Reader", true, addOne));
    made.add(adder("NoOracle", true, nullptr));
    made.add(firstOf());
    for (const char* type : {"Adder", "Reader", "NoOracle"})
      made.addCreator("cpu", type,
                      {"test", [](const CreateArgs&) { return Status::ok(); },
                       [](const CreateArgs&, Backend&) -> Result<std::unique_ptr<Execution>> {
                         return std::unique_ptr<Execution>(std::make_unique<AddHalf>());
                       }});
    return made;
  }();
  return registry;
}

class Folded : public testing::Test {
 protected:
  void SetUp() override { kernelRuns = 0; }

  void start(const std::string& backend = "cpu") {
    auto interpreter = Interpreter::create(model_, testOps());
    ASSERT_TRUE(interpreter) << interpreter.error().toString();
    auto session = (*interpreter)->createSession({.backend = backend, .threads = 1});
    ASSERT_TRUE(session) << session.error().toString();
    session_ = *std::move(session);
  }
  /// Runs x f32[n] of threes and expects every element of the first output.
  void expect(int64_t n, float value, int runs) {
    ASSERT_TRUE(session_->resizeInput("x", {n}).isOk());
    std::ranges::fill(session_->fillInput("x")->data<float>(), 3.0f);
    kernelRuns = 0;
    const Status status = session_->run();
    ASSERT_TRUE(status.isOk()) << status.toString();
    for (const float element : session_->outputs()[0].data<float>()) ASSERT_EQ(element, value) << n;
    EXPECT_EQ(kernelRuns, runs) << n;
  }
  bool hasRow(const std::string& node) const {
    const std::vector<Placement> rows = session_->placement();
    return std::ranges::any_of(rows, [&](const Placement& row) { return row.node == node && row.provider == "test"; });
  }
  TensorId x() { return x_ ? x_ : x_ = model_.addInput("x", {DType::Float32, {kDynamic}}); }
  /// f32[n] of twos, of the shape of x.
  TensorId twos() {
    const TensorId two = model_.addConstant("two", *Tensor::fromValues<float>({DType::Float32, {1}}, {2}));
    return model_.addNode("FillTo", "twos", {model_.addNode("ShapeOf", "shape", {x()})[0], two})[0];
  }

  Model model_;
  TensorId x_;
  std::unique_ptr<Session> session_;
};

constexpr int64_t kLarge = 1'000'000;

TEST_F(Folded, LittleWorkOnShapesAndNoMore) {
  model_.outputs = model_.addNode("Adder", "sum", {twos()});
  start();
  expect(100, 3, 0);
  EXPECT_FALSE(hasRow("sum"));
  expect(kLarge, 2.5, 1);
  EXPECT_TRUE(hasRow("sum"));
  expect(kLarge, 2.5, 1);  // in each run
  expect(100, 3, 0);
  EXPECT_EQ(session_->statistics().plansMade, 2u);
}

TEST_F(Folded, ManyNodesOfLittleWorkAreMuch) {
  TensorId sum = twos();
  for (int i = 0; i < 100; ++i) sum = model_.addNode("Adder", fmt::format("sum{}", i), {sum})[0];
  model_.outputs = {sum};
  start();
  expect(10, 102, 0);
  const int64_t n = 10'000;
  const int folded = static_cast<int>((kMostFoldedWork - static_cast<double>(n)) / (2.0 * static_cast<double>(n)));
  const int runs = 100 - folded;
  expect(n, 2 + static_cast<float>(folded) + 0.5f * static_cast<float>(runs), runs);
}

// A shape that needs much is made all the same: at the resize, by the kernel.
TEST_F(Folded, WhatAShapeNeedsHoweverMuch) {
  const TensorId length = model_.addNode("FirstOf", "length", {model_.addNode("Adder", "sum", {twos()})[0]})[0];
  const TensorId one = model_.addConstant("one", *Tensor::fromValues<float>({DType::Float32, {1}}, {1}));
  const TensorId filled = model_.addNode("FillTo", "filled", {length, one})[0];
  model_.outputs = {filled};
  start();
  expect(100, 1, 0);
  EXPECT_EQ(session_->outputs()[0].desc.shape, Shape{3});
  expect(kLarge, 1, 1);
  EXPECT_EQ(session_->outputs()[0].desc.shape, Shape{2});
  EXPECT_FALSE(hasRow("sum"));
  expect(kLarge, 1, 0);
}

TEST_F(Folded, ConstantsOnceHoweverMany) {
  const std::vector<float> values(kLarge, 4.0f);
  const TensorId constant = model_.addConstant("c", *Tensor::fromValues<float>({DType::Float32, {kLarge}}, values));
  model_.outputs = {model_.addNode("Adder", "sum", {constant})[0], model_.addNode("Negate", "y", {x()})[0]};
  start();
  expect(10, 4.5, 1);
  EXPECT_FALSE(hasRow("sum"));
  expect(20, 4.5, 0);
}

// An operator that reads values of an input for its shape has a kernel that computes them.
TEST_F(Folded, NotWhatReadsAnInput) {
  const TensorId read = model_.addNode("Reader", "read", {x()})[0];
  model_.outputs = model_.addNode("Adder", "sum", {read});
  start();
  expect(10, 4, 2);
  EXPECT_TRUE(hasRow("read"));
  EXPECT_TRUE(hasRow("sum"));
  start("reference");
  expect(10, 5, 0);
}

TEST_F(Folded, NotWhatHasNoOracle) {
  model_.outputs = {model_.addNode("NoOracle", "read", {x()})[0], model_.addNode("NoOracle", "twice", {twos()})[0]};
  start();
  expect(10, 3.5, 2);
  const TensorId four = model_.addConstant("four", *Tensor::fromValues<float>({DType::Float32, {1}}, {4}));
  model_.outputs = {model_.addNode("NoOracle", "constant", {four})[0], model_.addNode("Negate", "y", {x()})[0]};
  start();
  expect(10, 4.5, 1);
}

// Only the oracle has these, so a run would take as long.
TEST_F(Folded, WhatHasNoKernel) {
  model_.outputs = model_.addNode("AddOne", "sum", {twos()});
  start();
  expect(kLarge, 3, 0);
  EXPECT_EQ(session_->placement().size(), 0u);
}

}  // namespace
}  // namespace opkit::folding_test
