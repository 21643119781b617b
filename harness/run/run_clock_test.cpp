#include "harness/run/run_clock.h"

#include <gtest/gtest.h>

namespace opkit::harness {
namespace {

TEST(RunClock, OnAQuietMachineItIsTheWall) {
  RunClock clock(100, {.busy = 50, .idle = 150}, 3);
  clock.look(110, {.busy = 70, .idle = 150}, 23);
  EXPECT_DOUBLE_EQ(clock.countedSeconds(), 10);
  EXPECT_DOUBLE_EQ(clock.othersShare(), 0);
  clock.look(120, {.busy = 80, .idle = 160}, 33);  // one of two cores is free
  EXPECT_DOUBLE_EQ(clock.countedSeconds(), 20);
}

TEST(RunClock, TimeOfOtherProcessesDoesNotCount) {
  RunClock clock(0, {}, 0);
  clock.look(10, {.busy = 20}, 20);
  clock.look(20, {.busy = 38, .stolen = 2}, 24);  // 4 of 20 core seconds were its own
  EXPECT_DOUBLE_EQ(clock.countedSeconds(), 10 + 2);
  EXPECT_DOUBLE_EQ(clock.seconds(), 20);
  EXPECT_DOUBLE_EQ(clock.othersShare(), 16.0 / 40);
}

TEST(RunClock, WithoutReadingsItIsTheWall) {
  RunClock clock(0, {}, 0);
  clock.look(10, {}, 12);
  EXPECT_DOUBLE_EQ(clock.countedSeconds(), 10);
}

TEST(RunTimes, AreSaidBesideTheEstimate) {
  EXPECT_EQ((RunTimes{.took = 170, .estimated = 161}.toString()), "took 170 s, estimated 161 s on 2 cores");
  EXPECT_EQ((RunTimes{.took = 5, .estimated = 0.25, .othersShare = 0.9}.toString()),
            "took 5.0 s, estimated 0.2 s on 2 cores")
      << "too short to ask why";
  EXPECT_EQ((RunTimes{.took = 3.25, .estimated = 2, .cores = 1, .othersShare = 0.9}.toString()),
            "took 3.2 s, estimated 2.0 s on 1 core")
      << "no reason is needed up to twice the estimate";
}

TEST(RunTimes, NameWhatCostMoreThanTheEstimate) {
  const std::string start = "took 412 s, estimated 180 s on 2 cores: ";
  RunTimes times{.took = 412, .estimated = 180, .othersShare = 0.61, .preparing = 9, .making = 40, .workers = 2};
  EXPECT_EQ(times.toString(), start + "other processes took 61 % of the cores");
  times.pipelines = 9310, times.making = 560;
  EXPECT_EQ(times.toString(), start +
                                  "9310 pipelines were compiled in 280 s of 2 workers (a cold shader cache); "
                                  "other processes took 61 % of the cores");
  times.othersShare = 0.02;
  times.making = 0;
  EXPECT_EQ(times.toString(), start +
                                  "neither other processes (2 % of the cores) nor compiled pipelines (0.0 s) "
                                  "explain it");
  times.preparing = 100;
  EXPECT_EQ(times.toString(), start + "the first case began after 100 s");
  times.rerunning = 200;
  EXPECT_EQ(times.toString(), start + "groups with failures ran again for 200 s; the first case began after 100 s");
}

}  // namespace
}  // namespace opkit::harness
