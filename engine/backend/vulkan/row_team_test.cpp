// The team of each device class for rows that are long, many, or short.
#include <gtest/gtest.h>

#include "engine/backend/device_class.h"
#include "engine/backend/vulkan/row_split.h"

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
           {{.rows = 32, .extent = 4096, .distance = 32}, 64, 32, 16},
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

TEST(RowTeam, NeighboursReadNeighboursInStridedRows) {
  struct Row {
    RowWork work;
    uint32_t columns, team;
  };
  for (const Row& row : std::vector<Row>{
           {{.rows = 1 << 20, .extent = 4096, .distance = 1 << 20}, 32, 1},
           {{.rows = 8, .extent = 1000000, .distance = 8}, 8, 32},
           {{.rows = 3, .extent = 1000000, .distance = 3}, 4, 64},
           {{.rows = 2048, .extent = 512, .distance = 2048}, 8, 32},
           {{.rows = 100, .extent = 512, .distance = -100, .elementBytes = 8}, 4, 64},
           {{.rows = 2048, .extent = 512, .distance = 2048, .elementBytes = 2}, 16, 16},
           {{.rows = 2049, .extent = 512, .distance = 2049}, 32, 8},
       }) {
    const RowTeam team = RowTeam::of(row.work, device("discrete"));
    EXPECT_EQ(team.columns, row.columns) << row.work.rows;
    EXPECT_EQ(team.size, row.team) << row.work.rows;
    EXPECT_EQ(team.keeps, RowTeam::Keeps::Nothing);
    EXPECT_EQ(team.teams(row.work) % team.columns, 0);
    EXPECT_EQ(RowTeam::of(row.work, device("software")).columns, 1u);
  }
}

TEST(RowTeam, KeepsWhatFitsIntoSharedMemory) {
  using Keeps = RowTeam::Keeps;
  struct Row {
    int64_t rows, extent, distance;
    uint32_t sharedBytes;
    Keeps keeps;
    uint32_t columns, localSize;
  };
  const std::vector<Row> rowsOfDevices = {
      {1000000, 8, 1, 32768, Keeps::Blocks, 256, 256},   {1000000, 30, 1, 32768, Keeps::Blocks, 64, 256},
      {512, 768, 1, 32768, Keeps::Blocks, 1, 256},       {512, 6144, 1, 32768, Keeps::Blocks, 1, 256},
      {512, 6145, 1, 32768, Keeps::Nothing, 1, 256},     {512, 6145, 1, 49152, Keeps::Blocks, 1, 256},
      {512, 2049, 1, 16384, Keeps::Nothing, 1, 256},     {512, 4, 1, 4096, Keeps::Nothing, 1, 128},
      {600000, 3, 5, 32768, Keeps::Blocks, 256, 256},    {32768, 150, 4096, 32768, Keeps::Columns, 32, 256},
      {32768, 400, 4096, 32768, Keeps::Columns, 8, 256},
  };
  for (const Row& row : rowsOfDevices) {
    DeviceCaps caps = device("discrete");
    caps.sharedBytes = row.sharedBytes;
    const RowWork work{.rows = row.rows, .extent = row.extent, .passes = 3, .distance = row.distance};
    const RowTeam team = RowTeam::of(work.keeping(), caps);
    const std::string text = fmt::format("{} rows of {} at {}", row.rows, row.extent, row.distance);
    EXPECT_EQ(team.keeps, row.keeps) << text;
    EXPECT_EQ(team.columns, row.columns) << text;
    EXPECT_EQ(team.localSize, row.localSize) << text;
    EXPECT_LE(team.tileElements * 4, row.sharedBytes) << text;
    EXPECT_EQ(RowTeam::of(work, caps).keeps, Keeps::Nothing) << text;
    caps.deviceClass = *deviceClassNamed("software");
    EXPECT_EQ(RowTeam::of(work.keeping(), caps).keeps, Keeps::Nothing) << text;
  }
}

TEST(RowTeam, OneGroupKeepsWholeBlocks) {
  DeviceCaps caps = device("discrete");
  caps.sharedBytes = 32768;
  // 600,000 rows are 120,000 blocks [3, 5]; 256 columns hold 51 of them.
  const RowWork work = RowWork{.rows = 600000, .extent = 3, .distance = 5}.keeping();
  const RowTeam team = RowTeam::of(work, caps);
  EXPECT_EQ(team.teams(work), (120000 + 50) / 51 * 256);
}

TEST(RowSplit, DividesFewLongRows) {
  const RowWork long1{.rows = 1, .extent = 1000000, .passes = 2};
  const RowSplit split = RowSplit::of(long1, device("discrete"));
  EXPECT_EQ(split.parts, 521);
  EXPECT_EQ(split.length, 1920);  // a multiple of 32
  EXPECT_EQ(split.folding(long1).rows, 521);
  EXPECT_EQ(split.folding(long1).extent, 1920);
  EXPECT_EQ(split.joining(long1).extent, 521);
  EXPECT_EQ(split.joining(long1).passes, 2);
  EXPECT_FALSE(RowSplit::of(long1, device("software")).isSplit());
  EXPECT_FALSE(RowSplit::of({.rows = 132, .extent = 1000000}, device("discrete")).isSplit());
  EXPECT_TRUE(RowSplit::of({.rows = 131, .extent = 1000000}, device("discrete")).isSplit());
  EXPECT_FALSE(RowSplit::of({.rows = 1, .extent = 2047}, device("discrete")).isSplit());
  EXPECT_FALSE(
      RowSplit::of({.rows = 4096, .extent = 511, .distance = 4096, .elementBytes = 1}, device("discrete")).isSplit());
  EXPECT_FALSE(RowSplit::of({.rows = 0, .extent = 5}, device("discrete")).isSplit());
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
