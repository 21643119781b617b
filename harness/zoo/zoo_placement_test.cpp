// Every network of the zoo runs on the requested backend and survives a round trip through its model file bit for bit.
#include <gtest/gtest.h>

#include "engine/runtime/session.h"
#include "harness/zoo/load_model.h"
#include "harness/zoo/zoo.h"
#include "harness/zoo/zoo_test_support.h"
#include "ops/builtin_ops.h"

namespace opkit {
namespace {

Result<std::unique_ptr<Session>> placedSessionOf(Model model, const std::string& backend) {
  OPKIT_ASSIGN(const auto interpreter, Interpreter::create(std::move(model), ops::builtinOps()));
  return interpreter->createSession({.backend = backend});
}

class ZooPlacement : public testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(ZooPlacement, NothingFallsBack) {
  const auto& [network, backend] = GetParam();
  auto model = loadModel("zoo:" + network);
  ASSERT_TRUE(model) << model.error().toString();
  const auto session = placedSessionOf(*std::move(model), backend);
  ASSERT_TRUE(session) << session.error().toString();
  fillInputs(**session);
  const Status status = (*session)->run();  // a stage is planned once the stages before it have run
  ASSERT_TRUE(status.isOk()) << status.toString();
  const std::vector<Placement> placement = (*session)->placement();
  EXPECT_GT(placement.size(), 10u);
  for (const Placement& row : placement) {
    EXPECT_FALSE(row.fellBack) << row.type << " '" << row.node << "'";
    EXPECT_EQ(row.backend, backend) << row.type << " '" << row.node << "'";
    EXPECT_NE(row.type, "Copy") << row.node;
  }
}

TEST(ZooPlacement, QuantisedFormsComputeTheSameInIntegers) {
  std::vector<std::vector<float>> outputs;
  for (const char* network : {"resnet50_qdq", "resnet50_qlinear"}) {
    const auto session = *placedSessionOf(*loadModel(std::string("zoo:") + network), "cpu");
    ASSERT_TRUE(session->resizeInput("input", {2, 3, 65, 97}).isOk());
    const std::span<float> x = session->fillInput("input")->data<float>();
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7919 % 1000) / 250 - 2;
    const Status status = session->run();
    ASSERT_TRUE(status.isOk()) << status.toString();
    const std::span<float> y = session->outputs()[0].data<float>();
    outputs.emplace_back(y.begin(), y.end());
    size_t floats = 0;
    for (const Placement& row : session->placement()) {
      EXPECT_TRUE(row.type != "Conv" && row.type != "Add" && row.type != "Gemm") << network << ": " << row.node;
      floats += row.type == "QuantizeLinear" || row.type == "DequantizeLinear";
    }
    EXPECT_EQ(floats, 2u) << network << ": only the input and the output are converted";
  }
  EXPECT_EQ(outputs[0], outputs[1]);
  const auto [least, greatest] = std::ranges::minmax(outputs[0]);
  EXPECT_GT(greatest - least, 1.0f) << "the outputs tell little";
}

std::vector<std::string> placedOn() {
#ifdef OPKIT_HAS_VULKAN
  return {"cpu", "vulkan"};
#else
  return {"cpu"};
#endif
}

INSTANTIATE_TEST_SUITE_P(Networks, ZooPlacement,
                         testing::Combine(testing::ValuesIn(zooNames()), testing::ValuesIn(placedOn())),
                         [](const auto& test) { return std::get<0>(test.param) + "_" + std::get<1>(test.param); });

Result<std::vector<std::byte>> outputOf(Model model) {
  OPKIT_ASSIGN(const auto session, placedSessionOf(std::move(model), "cpu"));
  fillInputs(*session);
  OPKIT_TRY(session->run());
  const std::span<std::byte> y = session->output(session->outputNames()[0])->bytes();
  return std::vector<std::byte>(y.begin(), y.end());
}

TEST(ZooModelFile, ReadBackGivesTheSameBits) {
  for (const std::string& name : zooNames()) {
    auto model = loadModel("zoo:" + name);
    ASSERT_TRUE(model) << model.error().toString();
    const auto bytes = writeModel(*model);
    ASSERT_TRUE(bytes) << bytes.error().toString();
    auto again = readModel(*bytes);
    ASSERT_TRUE(again) << again.error().toString();
    const auto first = outputOf(*std::move(model)), second = outputOf(*std::move(again));
    ASSERT_TRUE(first && second) << first.error().toString() << second.error().toString();
    EXPECT_GT(first->size(), 0u);
    EXPECT_EQ(*first, *second) << name;
  }
}

}  // namespace
}  // namespace opkit
