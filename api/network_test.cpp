// The library as an external program uses it: its refusals, and that nothing is thrown.
#include <gtest/gtest.h>

#include <cstdint>

#include "api/opkit.h"
#include "engine/model/model.h"

namespace opkit::api {
namespace {

/// y = -x, of two rows, in a file.
std::string negFile() {
  Model model;
  const int x = model.addInput("x", {DType::Float32, {2, kDynamic}});
  model.outputs = model.addNode("Neg", "y", {x});
  const std::string path = testing::TempDir() + "network_test.opk";
  EXPECT_TRUE(writeFile(path, *writeModel(model)).isOk());
  return path;
}

class NetworkTest : public testing::Test {
 protected:
  std::unique_ptr<Network> open(const Options& options = {}) { return Network::open(negFile(), options, error_); }
  std::string error_;
};

TEST_F(NetworkTest, RunsOnceEveryInputIsSet) {
  const auto network = open();
  ASSERT_TRUE(network) << error_;
  EXPECT_FALSE(network->run(error_));
  EXPECT_NE(error_.find("1 input is without values: 'x'"), std::string::npos) << error_;
  const float values[] = {1, 2, 3, 4};
  EXPECT_FALSE(network->setInput("x", {2, 2}, values, 8, error_));
  EXPECT_NE(error_.find("f32[2,2] needs 16 bytes, got 8"), std::string::npos) << error_;
  EXPECT_FALSE(network->setInput("x", {2, 2}, nullptr, 16, error_));
  EXPECT_FALSE(network->run(error_)) << "a refused input is not set";
  ASSERT_TRUE(network->setInput("x", {2, 2}, values, 16, error_)) << error_;
  ASSERT_TRUE(network->run(error_)) << error_;
  EXPECT_EQ(static_cast<const float*>(network->output("y"))[3], -4);
  EXPECT_FALSE(network->setInput("x", {3, 2}, values, 24, error_));
  EXPECT_TRUE(network->run(error_)) << "what was refused changed nothing: " << error_;
}

TEST_F(NetworkTest, RefusesThreadsThatNobodyMeans) {
  for (const unsigned threads : {100000u, UINT32_MAX}) {
    EXPECT_FALSE(open({.threads = threads}));
    EXPECT_NE(error_.find("threads: expected 0 (one per core) to 1024"), std::string::npos) << error_;
  }
  EXPECT_TRUE(open({.threads = 2})) << error_;
}

TEST_F(NetworkTest, KeepsToTheLimitOfHostMemory) {
  const auto network = open();
  ASSERT_TRUE(network) << error_;
  setHostMemoryLimit(1 << 20);
  const std::vector<float> values(1 << 20);
  EXPECT_FALSE(network->setInput("x", {2, 1 << 19}, values.data(), values.size() * 4, error_));
  EXPECT_NE(error_.find("the limit is 1048576"), std::string::npos) << error_;
  setHostMemoryLimit(0);
  EXPECT_TRUE(network->setInput("x", {2, 1 << 19}, values.data(), values.size() * 4, error_)) << error_;
  EXPECT_TRUE(network->run(error_)) << error_;
}

TEST_F(NetworkTest, SaysWhatIsWrongInOneLine) {
  for (const Options& options : {Options{.backend = "nope"}, Options{.device = "\xff"}}) {
    EXPECT_FALSE(open(options));
    EXPECT_FALSE(error_.empty());
    EXPECT_EQ(error_.find('\n'), std::string::npos) << error_;
  }
  EXPECT_FALSE(Network::open("/no/such/model", {}, error_));
  EXPECT_NE(error_.find("/no/such/model"), std::string::npos) << error_;
  EXPECT_FALSE(Network::open(testing::TempDir(), {}, error_));
  EXPECT_NE(error_.find("folder"), std::string::npos) << error_;
}

}  // namespace
}  // namespace opkit::api
