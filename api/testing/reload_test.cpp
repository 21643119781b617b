// A program that loads the library, unloads it and loads it again.
#include <gtest/gtest.h>

#include <cstdlib>

#include "api/testing/networks.h"
#include "engine/testing/test_backends.h"

namespace opkit::api {
namespace {

class ReloadTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { OPKIT_NEEDS_DEVICE(createRuntime(GetParam())); }
};

TEST_P(ReloadTest, EveryTurnRuns) {
  const std::string command =
      OPKIT_RELOAD " " OPKIT_LIBRARY " " OPKIT_RELOAD_PLUGIN " '" + negFile() + "' " + GetParam();
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
}

INSTANTIATE_TEST_SUITE_P(All, ReloadTest, testing::ValuesIn(testBackends()));

}  // namespace
}  // namespace opkit::api
