// Networks whose shapes depend on data: stages, plans that are kept, errors.
#include <gtest/gtest.h>

#include "engine/runtime/session.h"
#include "ops/builtin_ops.h"
#include "ops/gather/gather_generated.h"

namespace opkit::ops::non_zero {
namespace {

std::vector<std::string> backends() {
#ifdef OPKIT_HAS_VULKAN
  return {"cpu", "vulkan"};
#else
  return {"cpu"};
#endif
}

/// Rows of -x where Relu(-x)'s first column is not zero: NonZero, Slice, Gather, Relu.
Model selectingModel() {
  Model model;
  const TensorId x = model.addInput("x", {DType::Float32, {kDynamic, 2}});
  const auto integers = [&](const char* name, std::vector<int64_t> values) {
    return model.addConstant(
        name, *Tensor::fromValues<int64_t>({DType::Int64, {static_cast<int64_t>(values.size())}}, values));
  };
  const TensorId zero = integers("zero", {0}), one = integers("one", {1}), flat = integers("flat", {-1});
  const TensorId negative = model.addNode("Neg", "negative", {x})[0];
  const TensorId column =
      model.addNode("Slice", "column", {model.addNode("Relu", "relu", {negative})[0], zero, one, one})[0];
  const std::vector<TensorId> found = model.addNode("NonZero", "found", {column}, {}, 2);
  const TensorId used = model.addNode("Slice", "used", {found[0], zero, found[1], one})[0];
  const TensorId rows = model.addNode("Slice", "rows", {used, zero, one, zero})[0];
  const TensorId indices = model.addNode("Reshape", "indices", {rows, flat})[0];
  ops::gather::GatherParamsT params;
  const TensorId picked = model.addNode("Gather", "picked", {negative, indices}, packParams(params))[0];
  model.outputs = model.addNode("Abs", "y", {picked});
  return model;
}

class DataDependentExtents : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    auto interpreter = Interpreter::create(selectingModel(), builtinOps());
    ASSERT_TRUE(interpreter) << interpreter.error().toString();
    auto session = (*interpreter)->createSession({.backend = GetParam(), .threads = 1});
    ASSERT_TRUE(session) << session.error().toString();
    session_ = *std::move(session);
  }

  std::vector<float> run(const std::vector<float>& values) {
    const Shape shape{static_cast<int64_t>(values.size()) / 2, 2};
    EXPECT_TRUE(session_->resizeInput("x", shape).isOk());
    convertElements(*Tensor::fromValues<float>({DType::Float32, shape}, values), *session_->fillInput("x"));
    const Status status = session_->run();
    EXPECT_TRUE(status.isOk()) << status.toString();
    const Tensor& y = session_->outputs()[0];
    EXPECT_EQ(y.desc.shape.back(), 2);
    return {y.data<float>().begin(), y.data<float>().end()};
  }

  std::unique_ptr<Session> session_;
};

TEST_P(DataDependentExtents, AreReadBackAndPlanned) {
  EXPECT_EQ(run({-1, 5, 2, 6, -3, 7}), (std::vector<float>{1, 5, 3, 7}));
  EXPECT_EQ(run({1, 5, 2, 6, -3, 7}), (std::vector<float>{3, 7}));
  EXPECT_EQ(run({1, 5, 2, 6, 3, 7}), (std::vector<float>{}));
  EXPECT_EQ(run({-1, 5, -2, 6, -3, 7, -4, 8}), (std::vector<float>{1, 5, 2, 6, 3, 7, 4, 8}));
  EXPECT_EQ(session_->statistics().stages, 2u);
  for (const Placement& row : session_->placement()) EXPECT_FALSE(row.fellBack) << row.node;
}

TEST_P(DataDependentExtents, CreateNothingWhenTheyReturn) {
  run({-1, 5, 2, 6, -3, 7});
  run({-1, 5, 2, 6, 3, 7});
  const size_t plans = session_->statistics().plansMade;
  const BackendCounters before = session_->counters();
  EXPECT_EQ(run({2, 5, -2, 6, -9, 7}), (std::vector<float>{2, 6, 9, 7}));  // other rows, as many as the first time
  const BackendCounters after = session_->counters();
  EXPECT_EQ(session_->statistics().plansMade, plans);
  EXPECT_EQ(after.executionsCreated, before.executionsCreated);
  EXPECT_EQ(after.pipelinesCreated, before.pipelinesCreated);
  EXPECT_EQ(after.allocations, before.allocations);
  const size_t submits = GetParam() == "vulkan" ? session_->statistics().stages : 0;
  EXPECT_EQ(after.submits - before.submits, submits);
}

INSTANTIATE_TEST_SUITE_P(NonZero, DataDependentExtents, ::testing::ValuesIn(backends()));

}  // namespace
}  // namespace opkit::ops::non_zero
