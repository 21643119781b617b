#include "engine/base/host_memory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "engine/tensor/tensor.h"

namespace opkit {
namespace {

/// A limit for one test.
class HostMemory : public testing::Test {
 protected:
  ~HostMemory() override { setHostMemoryLimit(before_); }
  /// Allows `bytes` more than are in use.
  static void allow(size_t bytes) { setHostMemoryLimit(hostMemoryInUse() + bytes); }

 private:
  size_t before_ = hostMemoryLimit();
};

TEST_F(HostMemory, TensorsBeyondTheLimitAreRefusedAndGivenBackOnesAreNot) {
  allow(1000);
  const size_t before = hostMemoryInUse();
  {
    const Result<Tensor> first = Tensor::onHost({DType::Float32, {200}});
    ASSERT_TRUE(first);
    EXPECT_EQ(hostMemoryInUse(), before + 800);
    const Status refused = Tensor::onHost({DType::Float32, {100}}).error();
    EXPECT_EQ(refused.code(), StatusCode::OutOfMemory);
    EXPECT_NE(refused.message().find("400 more"), std::string::npos) << refused.message();
  }
  EXPECT_EQ(hostMemoryInUse(), before);
  EXPECT_TRUE(Tensor::onHost({DType::Float32, {250}}));
  setHostMemoryLimit(0);
  EXPECT_TRUE(Tensor::onHost({DType::Float32, {1000}}));
}

TEST_F(HostMemory, AShareGrowsAndGoesWithItsOwner) {
  allow(1000);
  const size_t before = hostMemoryInUse();
  {
    HostMemoryShare share;
    EXPECT_TRUE(share.atLeast(600).isOk());
    EXPECT_TRUE(share.atLeast(500).isOk());
    EXPECT_EQ(hostMemoryInUse(), before + 600);
    EXPECT_EQ(share.atLeast(1001).code(), StatusCode::OutOfMemory);
    EXPECT_EQ(hostMemoryInUse(), before + 600);
  }
  EXPECT_EQ(hostMemoryInUse(), before);
}

/// Writes the system's files below a separate folder and returns the default for it.
class DefaultLimit : public testing::Test {
 protected:
  DefaultLimit() : root_(std::filesystem::path(testing::TempDir()) / "host_memory") {
    std::filesystem::remove_all(root_);
  }
  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  size_t limit() const { return defaultHostMemoryLimit(root_.string()); }

 private:
  std::filesystem::path root_;
};

TEST_F(DefaultLimit, IsThreeQuartersOfTheMachine) {
  EXPECT_EQ(limit(), 0u);  // nothing is known
  write("proc/meminfo", "MemTotal:        4000 kB\nMemFree: 1 kB\n");
  EXPECT_EQ(limit(), size_t{3000} << 10);
}

TEST_F(DefaultLimit, OrOfTheLeastControlGroupAbove) {
  write("proc/meminfo", "MemTotal:        4000 kB\n");
  write("proc/self/cgroup", "0::/outer/inner\n");
  write("sys/fs/cgroup/outer/inner/memory.max", "max\n");
  EXPECT_EQ(limit(), size_t{3000} << 10);
  write("sys/fs/cgroup/outer/memory.max", "1048576\n");
  EXPECT_EQ(limit(), size_t{3} << 18);
}

TEST_F(DefaultLimit, OrOfAGroupOfVersionOne) {
  write("proc/meminfo", "MemTotal:        4000 kB\n");
  write("proc/self/cgroup", "5:cpu,memory:/box\n0::/\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "2097152\n");
  EXPECT_EQ(limit(), size_t{3} << 19);
}

}  // namespace
}  // namespace opkit
