// A child process inherits networks of its parent, without the threads of the pool and of the driver.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tuple>

#include "api/testing/networks.h"
#include "engine/testing/test_backends.h"

namespace opkit::api {
namespace {

constexpr unsigned kPatienceSeconds = 60;  // then the child is ended by a signal
constexpr int64_t kElements = 1 << 18;     // of a row: work for two threads

/// y = -x of ones; -1 for an error.
float negatedBy(Network& network, std::string& error) {
  const std::vector<float> ones(2 * kElements, 1.0f);
  if (!network.setInput("x", "f32", {2, kElements}, ones.data(), ones.size() * 4, error) || !network.run(error))
    return 0;
  return static_cast<const float*>(network.output("y"))[2 * kElements - 1];
}

bool refuses(const std::string& error) {
  return error == "the network was opened before a fork; open another one in the child process";
}

/// In the child: 0, or the number of what is wrong.
int useAndDestroy(std::unique_ptr<Network> network, const Options& options, const std::string& file) {
  std::string error;
  const float one = 1;
  if (network->run(error) || !refuses(error)) return 1;
  if (network->setInput("x", "f32", {2, 1}, &one, 4, error) || !refuses(error)) return 2;
  if (network->setInput("x", Value{.dtype = "f32"}, error) || !refuses(error)) return 3;
  if (network->outputs().size() != 1 || static_cast<const float*>(network->output("y"))[0] != -1) return 4;
  network.reset();
#if defined(__SANITIZE_THREAD__)  // it ends a child that makes threads
  return 0;
#endif
  const auto own = Network::open(file, options, error);
  return own && negatedBy(*own, error) == -1 ? 0 : 5;
}

class ForkTest : public testing::TestWithParam<std::tuple<std::string, unsigned>> {
 protected:
  void SetUp() override { OPKIT_NEEDS_DEVICE(createRuntime(std::get<0>(GetParam()))); }
};

TEST_P(ForkTest, TheChildRefusesAndDestroysTheParentsNetwork) {
  const auto& [backend, threads] = GetParam();
  const Options options{.backend = backend, .threads = threads};
  std::string error;
  const std::string file = negFile();
  auto network = Network::open(file, options, error);
  ASSERT_TRUE(network) << error;
  ASSERT_EQ(negatedBy(*network, error), -1) << error;
  usleep(50'000);  // the threads of the pool sleep by now; one that still polls would hide what waits for it
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(kPatienceSeconds);
    _exit(useAndDestroy(std::move(network), options, file));
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(negatedBy(*network, error), -1) << "of the parent: " << error;
}

INSTANTIATE_TEST_SUITE_P(All, ForkTest, testing::Combine(testing::ValuesIn(testBackends()), testing::Values(1u, 2u)),
                         [](const auto& row) {
                           return std::get<0>(row.param) + std::to_string(std::get<1>(row.param));
                         });

}  // namespace
}  // namespace opkit::api
