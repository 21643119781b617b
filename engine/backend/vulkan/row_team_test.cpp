// The team of each device class for rows that are long, many, or short.
#include <gtest/gtest.h>

#include "engine/backend/device_class.h"
#include "engine/backend/vulkan/vulkan_execution.h"

namespace opkit::vulkan {
namespace {

DeviceCaps device(const std::string& name, uint64_t loopIterations = UINT64_MAX, uint32_t workGroup = 1024) {
  DeviceCaps caps;
  caps.deviceClass = *deviceClassNamed(name);
  caps.loopIterations = loopIterations;
  caps.workGroup = workGroup;
  return caps;
}

uint32_t teamFor(const RowWork& work, const std::string& name) { return RowTeam::of(work, device(name)).size; }

TEST(RowTeam, SuitsTheRowsAndTheDeviceClass) {
  struct Row {
    RowWork work;
    uint32_t software, discrete, integrated;
  };
  for (const Row& row : std::vector<Row>{
           {{.rows = 4096, .extent = 4096}, 1, 256, 128},
           {{.rows = 32, .extent = 4096}, 64, 256, 128},
           {{.rows = 1, .extent = 1000000}, 64, 256, 128},
           {{.rows = 1000000, .extent = 8}, 1, 2, 1},
           {{.rows = 1000000, .extent = 64}, 1, 16, 16},
           {{.rows = 100000, .extent = 300}, 1, 128, 128},
           {{.rows = 32, .extent = 4096, .distance = 32}, 64, 256, 128},
           {{.rows = 100000, .extent = 4096, .distance = 100000}, 1, 1, 1},
       }) {
    const std::string text = std::to_string(row.work.rows) + " rows of " + std::to_string(row.work.extent);
    EXPECT_EQ(teamFor(row.work, "software"), row.software) << text;
    EXPECT_EQ(teamFor(row.work, "discrete"), row.discrete) << text;
    EXPECT_EQ(teamFor(row.work, "integrated"), row.integrated) << text;
  }
}

TEST(RowTeam, GrowsUntilTheLoopsFitTheDevice) {
  const RowWork work{.rows = 100000, .extent = 1 << 20, .passes = 3, .distance = 100000};
  EXPECT_EQ(RowTeam::of(work, device("software")).size, 1u);
  const DeviceCaps limited = device("software", 65535);
  const RowTeam team = RowTeam::of(work, limited);
  EXPECT_GT(team.size, 1u);
  EXPECT_TRUE(team.check(work, limited, "shader").isOk());
  EXPECT_GE(team.localSize, team.size);
  const RowTeam half{.size = team.size / 2};
  EXPECT_FALSE(half.check(work, limited, "shader").isOk());
}

TEST(RowTeam, LongestRowsTakeSeveralElementsPerPass) {
  const DeviceCaps limited = device("software", 65535);
  const RowTeam usual = RowTeam::of({.rows = 1, .extent = 1000000, .passes = 3}, limited);
  EXPECT_EQ(usual.steps, 1u);
  const RowWork work{.rows = 1, .extent = 60'000'000, .passes = 3};
  const RowTeam team = RowTeam::of(work, limited);
  EXPECT_EQ(team.size, RowTeam::kMost);
  EXPECT_EQ(team.steps, RowTeam::kMostSteps);
  EXPECT_TRUE(team.check(work, limited, "shader").isOk());
  EXPECT_EQ(RowTeam::of(work, device("discrete")).steps, 4u);
}

TEST(RowTeam, KeepsToTheDevicesWorkGroup) {
  const RowWork work{.rows = 1, .extent = 1000000};
  const RowTeam team = RowTeam::of(work, device("discrete", UINT64_MAX, 96));
  EXPECT_EQ(team.size, 64u);
  EXPECT_EQ(team.localSize, 64u);
}

TEST(RowTeam, NoTeamIsLargeEnough) {
  const DeviceCaps limited = device("software", 64);
  const RowWork work{.rows = 1, .extent = int64_t{1} << 40};
  const RowTeam team = RowTeam::of(work, limited);
  EXPECT_EQ(team.size, RowTeam::kMost);
  EXPECT_EQ(team.check(work, limited, "softmax").code(), StatusCode::Unsupported);
}

}  // namespace
}  // namespace opkit::vulkan
