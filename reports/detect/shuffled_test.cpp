#include "reports/detect/shuffled.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harness/cases/rng.h"

namespace opkit::reports::detect {
namespace {

constexpr size_t kNights = 30;

class ShuffledTest : public testing::Test {
 protected:
  /// Series of seven process runs a night, whose runs vary by 1 %; `level` is the factor of a night.
  static History historyOf(size_t count, double (*level)(size_t night), size_t nights = kNights, size_t runs = 7) {
    History history;
    history.timelines.resize(1);
    for (size_t n = 0; n < nights; ++n) history.timelines.front().nights.push_back({.date = std::to_string(n)});
    harness::Rng rng(1);
    for (size_t i = 0; i < count; ++i) {
      Series series;
      series.key = {.caseId = std::to_string(i), .provider = "all", .metric = "time"};
      for (uint32_t n = 0; n < nights; ++n) {
        std::vector<double> values;
        for (size_t k = 0; k < runs; ++k) values.push_back(1000 * level(n) * (1 + rng.uniform(0, 0.01)));
        series.add(n, values);
      }
      history.series.push_back(std::move(series));
    }
    return history;
  }
  static double flat(size_t /*night*/) { return 1; }
  static double twoBadNights(size_t night) { return night == 12 || night == 13 ? 1.3 : 1; }
  static double twoBadNightsAndAChange(size_t night) { return twoBadNights(night) * (night >= 27 ? 1.2 : 1); }
  static double sevenBadNights(size_t night) { return night >= 41 && night < 48 ? 1.3 : 1; }
  static double fourBadNights(size_t night) { return night >= 12 && night < 16 ? 1.3 : 1; }
  static double fourBadNightsOfSeven(size_t night) { return fourBadNights(night / 7); }
  static double aChange(size_t night) { return night >= 15 ? 1.5 : 1; }
};

TEST_F(ShuffledTest, NoiseAloneGivesNoAlarm) {
  const ShuffledAlarms alarms = shuffledAlarms(historyOf(10, flat), {});
  EXPECT_EQ(alarms.series, 10u);
  EXPECT_EQ(alarms.nights, kNights);
  EXPECT_EQ(alarms.drawn, 200u);
  EXPECT_EQ(alarms.alarmed, 0u);
}

TEST_F(ShuffledTest, BadNightsThatCouldComeLastAreAlarms) {
  const ShuffledAlarms alarms = shuffledAlarms(historyOf(10, twoBadNights), {});
  // The two are the last of 15 pairs in a fifteenth of the orders that keep them together.
  EXPECT_GE(alarms.alarmed, 1u);
  EXPECT_LE(alarms.alarmed, 30u);
  EXPECT_EQ(alarms.found, 10 * alarms.alarmed) << "a bad night is bad for all series";
}

TEST_F(ShuffledTest, ChangesThatStayAreNoNoise) {
  EXPECT_EQ(shuffledAlarms(historyOf(10, aChange), {}).alarmed, 0u);
  EXPECT_EQ(shuffledAlarms(historyOf(10, twoBadNightsAndAChange), {}).alarmed,
            shuffledAlarms(historyOf(10, twoBadNights), {}).alarmed);
}

TEST_F(ShuffledTest, ALevelThatSoonEndedIsNoise) {
  EXPECT_EQ(shuffledAlarms(historyOf(1, aChange), {}).alarmed, 0u);
  // The detector finds the beginning and the end of these seven nights.
  const History late = historyOf(1, sevenBadNights, 50);
  EXPECT_TRUE(judge(late, {}).series[0].change);
  EXPECT_GE(shuffledAlarms(late, {}, 1000).alarmed, 1u);
  EXPECT_GE(shuffledAlarms(historyOf(1, fourBadNightsOfSeven, 350, 1), {}, 2000).alarmed, 1u) << "joined nights";
}

TEST_F(ShuffledTest, OnlyTheWindowIsShuffled) {
  EXPECT_EQ(shuffledAlarms(historyOf(1, flat, 60), {}).nights, 50u);
  EXPECT_EQ(shuffledAlarms(historyOf(1, flat, 60 * 7, 1), {}).nights, 50u);
}

TEST_F(ShuffledTest, NightsOfOneRunAreJoined) {
  const ShuffledAlarms alarms = shuffledAlarms(historyOf(3, flat, 210, 1), {});
  EXPECT_EQ(alarms.nights, 30u);
  EXPECT_EQ(alarms.drawn, 200u);
  EXPECT_EQ(alarms.alarmed, 0u);
}

TEST_F(ShuffledTest, FewNightsDrawNothingAndLargeHistoriesDrawLess) {
  const ShuffledAlarms few = shuffledAlarms(historyOf(3, flat, 7), {});
  EXPECT_EQ(few.series, 0u);
  EXPECT_EQ(few.drawn, 0u);
  const ShuffledAlarms many = shuffledAlarms(historyOf(500, flat, 50), {});
  EXPECT_LT(many.drawn, 200u);
  EXPECT_GE(many.drawn, 5u);
}

}  // namespace
}  // namespace opkit::reports::detect
