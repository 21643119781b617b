#include "engine/backend/reference/oracle_execution.h"

#include <gtest/gtest.h>

#include "engine/backend/backend_registry.h"
#include "engine/backend/op_runner.h"
#include "engine/op/op_registry.h"

namespace opkit::reference {
namespace {

/// y = a + b + optional c, any dtype.
Status sumOracle(const OracleArgs& args) {
  for (size_t i = 0; i < 3; ++i) {
    if (!args.hasInput(i)) continue;
    visitElements(args.input(i), args.output(), [](const auto& x, auto& y) {
      for (size_t k = 0; k < y.size(); ++k) y[k] += x[k];
    });
  }
  return Status::ok();
}

OpDef sumDef() {
  return {.type = "Sum3",
          .inputs = {{"a"}, {"b"}, {"c", kAnyDType, Port::Kind::Optional}},
          .outputs = {{"y"}},
          .inferShapes = [](const ShapeArgs& args) -> Result<std::vector<TensorDesc>> {
            return std::vector{args.input(0)};
          },
          .oracle = sumOracle};
}

class OracleExecutionTest : public ::testing::TestWithParam<std::string> {
 protected:
  OracleExecutionTest() {
    registry.add(sumDef());
    backend = std::move(*(*createRuntime(GetParam()))->createBackend(registry, {.threads = 1}));
  }
  Result<std::unique_ptr<Execution>> create(const TensorList& inputs, const TensorList& constants,
                                            const TensorDesc& output) {
    std::vector<const TensorDesc*> descs;
    for (const Tensor* input : inputs) descs.push_back(input ? &input->desc : nullptr);
    const std::vector<TensorDesc> outputs = {output};
    const CreateArgs args{*registry.find("Sum3"), {}, descs, outputs, constants, backend->caps()};
    const Choice choice = chooseCreator(backend->creators(args.def), args);
    EXPECT_TRUE(choice.creator);
    EXPECT_EQ(choice.creator->provider, "reference");
    return choice.creator->create(args, *backend);
  }
  template <class T>
  std::vector<T> run(Execution& execution, TensorList inputs, const TensorDesc& desc) {
    const Tensor output = *Tensor::onHost(desc);
    EXPECT_TRUE(resizeAndRun(*backend, {{&execution, {inputs.begin(), inputs.end()}, {&output}}}).isOk());
    const auto data = output.data<T>();
    return {data.begin(), data.end()};
  }

  OpRegistry registry;
  std::unique_ptr<Backend> backend;
};

TEST_P(OracleExecutionTest, RunsResizesAndCounts) {
  const TensorDesc two{DType::Float32, {2}};
  const TensorDesc three{DType::Float32, {3}};
  const Tensor a = *Tensor::fromValues<float>(two, {1, 2});
  const Tensor b = *Tensor::fromValues<float>(three, {10, 20, 30});
  const std::vector<const Tensor*> small = {&a, &a};
  const std::vector<const Tensor*> large = {&b, &b, &b};
  auto execution = *create(small, {}, two);
  EXPECT_EQ(run<float>(*execution, small, two), (std::vector<float>{2, 4}));
  EXPECT_EQ(run<float>(*execution, large, three), (std::vector<float>{30, 60, 90}));
  EXPECT_EQ(run<float>(*execution, small, two), (std::vector<float>{2, 4}));
  EXPECT_EQ(backend->counters().dispatches, 3u);
}

TEST_P(OracleExecutionTest, KeepsConstantsAndSkipsAbsentInputs) {
  const TensorDesc desc{DType::Int64, {2}};
  const Tensor a = *Tensor::fromValues<int64_t>(desc, {1, int64_t{1} << 62});
  Tensor c = *Tensor::fromValues<int64_t>(desc, {5, 6});
  const std::vector<const Tensor*> inputs = {&a, &c, nullptr};
  const std::vector<const Tensor*> constants = {nullptr, &c, nullptr};
  auto execution = *create(inputs, constants, desc);
  EXPECT_TRUE(execution->readsInput(0));
  EXPECT_FALSE(execution->readsInput(1));
  c.data<int64_t>()[0] = 1000;  // the Execution has its own copy
  EXPECT_EQ(run<int64_t>(*execution, inputs, desc), (std::vector<int64_t>{6, (int64_t{1} << 62) + 6}));
}

TEST_P(OracleExecutionTest, RoundsHalfOnce) {
  const TensorDesc desc{DType::Float16, {1}};
  const Tensor a = *Tensor::fromValues<Half>(desc, {toHalf(2048.0)});
  const Tensor b = *Tensor::fromValues<Half>(desc, {toHalf(1.0)});
  const std::vector<const Tensor*> inputs = {&a, &b, &b};
  auto execution = *create(inputs, {}, desc);
  EXPECT_EQ(toFloat(run<Half>(*execution, inputs, desc)[0]), 2050.0f);  // 2048 + 1 rounds back to 2048 twice
}

TEST_P(OracleExecutionTest, RefusesWithoutAnOracle) {
  OpDef def = sumDef();
  def.type = "Bare";
  def.oracle = nullptr;
  registry.add(def);
  const std::vector<TensorDesc> outputs = {{DType::Float32, {1}}};
  const std::vector<const TensorDesc*> inputs = {&outputs[0], &outputs[0]};
  const CreateArgs args{*registry.find("Bare"), {}, inputs, outputs, {}, backend->caps()};
  const Choice choice = chooseCreator(backend->creators(args.def), args);
  EXPECT_FALSE(choice.creator);
  ASSERT_EQ(choice.refusals.size(), 1u);
  EXPECT_EQ(choice.refusals[0].reason, "Bare: the operator has no oracle");
}

INSTANTIATE_TEST_SUITE_P(HostBackends, OracleExecutionTest, ::testing::Values("cpu", "reference"));

}  // namespace
}  // namespace opkit::reference
