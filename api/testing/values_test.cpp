// Inputs whose dtype the model does not have.
#include <gtest/gtest.h>

#include "api/testing/networks.h"
#include "engine/testing/test_backends.h"

namespace opkit::api {
namespace {

class ValuesTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { OPKIT_NEEDS_DEVICE(createRuntime(GetParam())); }
  std::string error_;
};

TEST_P(ValuesTest, TheDtypeOfElementsIsChecked) {
  const auto network = Network::open(negFile(), {.backend = GetParam(), .threads = 2}, error_);
  ASSERT_TRUE(network) << error_;
  const std::pair<const char*, const char*> refused[] = {{"i32", "input 'x': expected f32, got i32"},
                                                         {"", "input 'x': expected f32, got "},
                                                         {"f\n32", "input 'x': expected f32, got f 32"},
                                                         {"sequence", "input 'x': expected f32, got sequence"}};
  const int32_t integers[] = {1, 2};
  for (const auto& [dtype, why] : refused) {
    EXPECT_FALSE(network->setInput("x", dtype, {2, 1}, integers, 8, error_));
    EXPECT_EQ(error_, why);
  }
  EXPECT_FALSE(network->run(error_)) << "a refused input is not set";
  const float floats[] = {1, 2};
  ASSERT_TRUE(network->setInput("x", "f32", {2, 1}, floats, 8, error_)) << error_;
  ASSERT_TRUE(network->run(error_)) << error_;
  EXPECT_EQ(static_cast<const float*>(network->output("y"))[1], -2);
}

INSTANTIATE_TEST_SUITE_P(All, ValuesTest, testing::ValuesIn(testBackends()));

}  // namespace
}  // namespace opkit::api
