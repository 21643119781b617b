// The floating-point modes of the calling program change no result, and a call leaves them alone.
#include <gtest/gtest.h>

#include <cstring>
#include <tuple>

#include "api/testing/networks.h"
#include "engine/testing/float_modes.h"
#include "engine/testing/test_backends.h"

namespace opkit::api {
namespace {

constexpr int64_t kRows = 256, kColumns = 512;  // enough for two threads

/// Halves and quotients of x, a product of matrices, a sum of x and a constant that is folded: of outputs the bits.
std::string arithmeticFile() {
  static const std::string path = [] {
    Model model;
    const TensorId x = model.addInput("x", {DType::Float32, {kRows, kColumns}});
    const auto constant = [&](const char* name, Shape shape, const std::vector<float>& values) {
      return model.addConstant(name, *Tensor::fromValues<float>({DType::Float32, std::move(shape)}, values));
    };
    std::vector<float> weights;
    for (int64_t i = 0; i < kColumns * 64; ++i) weights.push_back(0.01f * static_cast<float>(i % 97) - 0.3f);
    const TensorId one = constant("one", {}, {1}), three = constant("three", {}, {3}),
                   half = constant("half", {}, {0.5f});
    const TensorId folded = model.addNode("Div", "folded", {one, three})[0];
    model.outputs = {model.addNode("Mul", "halves", {x, half})[0],
                     model.addNode("Div", "quotients", {x, three})[0],
                     model.addNode("Div", "inverses", {one, x})[0],
                     model.addNode("Add", "sums", {x, folded})[0],
                     model.addNode("MatMul", "products", {x, constant("weights", {kColumns, 64}, weights)})[0],
                     model.addNode("Softmax", "shares", {x})[0]};
    return saved(model, "arithmetic");
  }();
  return path;
}

/// Normal values, denormals, the least normal ones and a zero.
std::vector<float> inputs() {
  std::vector<float> values;
  for (int64_t i = 0; i < kRows * kColumns; ++i)
    values.push_back(static_cast<float>(i % 1013 - 500) * (i % 2 == 0 ? 1.2e-38f : 1e-3f));
  return values;
}

struct Outcome {
  std::vector<std::vector<std::byte>> bits;
  bool isKept = false;  // the caller's environment
  std::string error;
};

/// The outputs of a network that is opened, fails once and runs under the mode.
Outcome outcomeOf(const Options& options, const std::string& file, const std::vector<float>& values,
                  const FloatMode& mode) {
  Outcome outcome;
  const ModeScope scope(mode);
  const FloatState before = FloatState::now();
  {
    const auto network = Network::open(file, options, outcome.error);
    if (!network || network->run(outcome.error)) return outcome;
    const bool failedAlike = FloatState::now() == before;
    if (!network->setInput("x", "f32", {kRows, kColumns}, values.data(), values.size() * 4, outcome.error))
      return outcome;
    if (!network->run(outcome.error)) return outcome;
    for (const TensorInfo& output : network->outputs()) {
      size_t bytes = 0;
      const auto* data = static_cast<const std::byte*>(network->output(output.name, &bytes));
      outcome.bits.emplace_back(data, data + bytes);
    }
    outcome.isKept = failedAlike;
  }
  outcome.isKept = outcome.isKept && FloatState::now() == before;
  return outcome;
}

class FloatEnvironmentTest : public testing::TestWithParam<std::tuple<std::string, unsigned>> {
 protected:
  void SetUp() override { OPKIT_NEEDS_DEVICE(createRuntime(std::get<0>(GetParam()))); }
};

TEST_P(FloatEnvironmentTest, OfTheCallerChangesNothing) {
  const auto& [backend, threads] = GetParam();
  const Options options{.backend = backend, .threads = threads};
  const std::string file = arithmeticFile();
  const std::vector<float> values = inputs();
  const Outcome expected = outcomeOf(options, file, values, {"none", [] {}});
  ASSERT_EQ(expected.bits.size(), 6u) << expected.error;
  for (const FloatMode& mode : floatModes()) {
    const Outcome got = outcomeOf(options, file, values, mode);
    ASSERT_EQ(got.bits.size(), expected.bits.size()) << mode.name << ": " << got.error;
    for (size_t i = 0; i < got.bits.size(); ++i)
      EXPECT_TRUE(got.bits[i] == expected.bits[i]) << mode.name << ", output " << i;
    EXPECT_TRUE(got.isKept) << mode.name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, FloatEnvironmentTest,
                         testing::Combine(testing::ValuesIn(testBackends()), testing::Values(1u, 2u)),
                         [](const auto& row) {
                           return std::get<0>(row.param) + std::to_string(std::get<1>(row.param));
                         });

}  // namespace
}  // namespace opkit::api
