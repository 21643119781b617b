#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <limits>

#include "reports/detect/judge.h"

namespace opkit::reports::detect {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A history of one machine; night n has commit "c<n>".
class DetectTest : public testing::Test {
 protected:
  explicit DetectTest(size_t nights = 40) {
    history_.timelines.resize(1);
    for (size_t i = 0; i < nights; ++i)
      timeline().nights.push_back({.date = fmt::format("day {}", i), .commit = fmt::format("c{}", i)});
  }
  Timeline& timeline() { return history_.timelines.front(); }

  /// A series whose value on night n is value(n), with process runs 0.2 % around it where it is noisy.
  size_t add(const std::string& caseId, MetricKind kind, const std::function<double(size_t)>& value) {
    Series series;
    series.kind = kind;
    series.key = {.caseId = caseId,
                  .op = caseId.substr(0, caseId.find('/')),
                  .backend = "cpu",
                  .provider = "opkit",
                  .dtype = "f32",
                  .metric = fmt::format("metric{}", history_.series.size())};
    for (uint32_t n = 0; n < timeline().nights.size(); ++n) {
      const double wobble = isNoisy(kind) ? 1 + 0.002 * static_cast<double>((n * 7 + 3) % 5) : 1;
      series.add(n, std::vector<double>{value(n) * wobble, value(n) * wobble * (isNoisy(kind) ? 1.002 : 1)});
    }
    history_.series.push_back(std::move(series));
    return history_.series.size() - 1;
  }
  size_t addDigest(const std::string& caseId, const std::function<uint64_t(size_t)>& digest) {
    const size_t index = add(caseId, MetricKind::Digest, [](size_t) { return NAN; });
    for (uint32_t n = 0; n < timeline().nights.size(); ++n) history_.series[index].addDigest(n, digest(n));
    return index;
  }
  static std::function<double(size_t)> stepAt(size_t night, double before, double after) {
    return [=](size_t n) { return n < night ? before : after; };
  }
  /// Without joining nights, which have two runs here.
  Judgement judged() { return judge(history_, {.leastRuns = 2}); }
  SeriesVerdict verdictOf(size_t series) { return judged().series[series]; }

  History history_;
};

TEST_F(DetectTest, SlowerTimeIsWorseWithCommitsAndInterval) {
  add("Relu/f32[8]", MetricKind::Time, stepAt(36, 1e6, 1.1e6));
  const Judgement judgement = judged();
  const SeriesVerdict& verdict = judgement.series[0];
  ASSERT_EQ(verdict.verdict, Verdict::Worse);
  EXPECT_EQ(verdict.change->lastGood, 35u);
  EXPECT_EQ(verdict.change->firstBad, 36u);
  EXPECT_EQ(verdict.change->nightsAfter, 4u);
  EXPECT_NEAR(verdict.change->ratio, 1.1, 0.01);
  EXPECT_LE(verdict.change->low, verdict.change->ratio);
  EXPECT_GE(verdict.change->high, verdict.change->ratio);
  EXPECT_GT(verdict.change->low, 1.08);
  EXPECT_LT(verdict.change->high, 1.12);
  EXPECT_NEAR(verdict.change->from, 1e6, 1e4);
  ASSERT_EQ(judgement.findings.size(), 1u);
  EXPECT_EQ(judgement.findings[0].goodCommit, "c35");
  EXPECT_EQ(judgement.findings[0].badCommit, "c36");
  EXPECT_TRUE(judgement.findings[0].moved.empty());
}

TEST_F(DetectTest, DirectionFollowsTheKind) {
  const size_t time = add("A/1", MetricKind::Time, stepAt(30, 2, 1)),
               rate = add("A/1", MetricKind::Rate, stepAt(30, 2, 1)),
               size = add("A/1", MetricKind::Size, stepAt(39, 100, 101)),
               score = add("A/1", MetricKind::Score, stepAt(39, 100, 101)),
               same = add("A/1", MetricKind::Time, stepAt(0, 1, 1));
  EXPECT_EQ(verdictOf(time).verdict, Verdict::Better);
  EXPECT_EQ(verdictOf(rate).verdict, Verdict::Worse);
  EXPECT_EQ(verdictOf(size).verdict, Verdict::Worse) << "an exact metric that never moved needs one night";
  EXPECT_EQ(verdictOf(score).verdict, Verdict::Better);
  EXPECT_EQ(verdictOf(same).verdict, Verdict::Same);
  EXPECT_FALSE(verdictOf(same).change);
}

TEST_F(DetectTest, SameHistoryGivesTheSameJudgement) {
  add("A/1", MetricKind::Time, stepAt(30, 1, 1.2));
  const SeriesVerdict a = verdictOf(0), b = verdictOf(0);
  EXPECT_EQ(a.change->low, b.change->low);
  EXPECT_EQ(a.change->high, b.change->high);
}

TEST_F(DetectTest, AChangeIsFreshOnOneNight) {
  History whole;
  add("A/1", MetricKind::Time, stepAt(30, 1, 1.2));
  whole = history_;
  size_t fresh = 0, found = 0;
  for (uint32_t nights = 30; nights <= 40; ++nights) {
    history_.timelines.front().nights.resize(nights);
    history_.series.front() = Series();
    history_.series.front().key = whole.series.front().key;
    for (uint32_t n = 0; n < nights; ++n) history_.series.front().add(n, whole.series.front().runs(n));
    const SeriesVerdict verdict = verdictOf(0);
    fresh += verdict.fresh, found += verdict.verdict == Verdict::Worse;
  }
  EXPECT_EQ(fresh, 1u);
  EXPECT_GE(found, 8u);
}

TEST_F(DetectTest, OneSlowNightIsTheSame) {
  add("A/1", MetricKind::Time, [](size_t n) { return n == 39 ? 2.0 : 1.0; });
  EXPECT_EQ(verdictOf(0).verdict, Verdict::Same);
}

TEST_F(DetectTest, FewNightsAreInsufficientData) {
  timeline().nights.resize(7);
  const size_t time = add("A/1", MetricKind::Time, stepAt(4, 1, 2));
  EXPECT_EQ(verdictOf(time).verdict, Verdict::InsufficientData);
  timeline().nights.resize(1);
  EXPECT_EQ(verdictOf(add("A/2", MetricKind::Accuracy, stepAt(0, 1, 1))).verdict, Verdict::InsufficientData);
  history_.series.emplace_back();
  EXPECT_EQ(verdictOf(2).verdict, Verdict::InsufficientData) << "an empty series";
}

TEST_F(DetectTest, ASeriesThatIsNoLongerMeasuredHasNoVerdict) {
  add("A/1", MetricKind::Time, stepAt(20, 1, 2));
  timeline().nights.resize(60);
  EXPECT_EQ(verdictOf(0).verdict, Verdict::InsufficientData);
}

TEST_F(DetectTest, TimesThatAreNoTimesAreLeftOut) {
  Series series;
  for (const double bad : {0.0, -1.0, kInfinity, static_cast<double>(NAN)}) series.add(0, std::vector<double>{bad});
  EXPECT_EQ(series.size(), 0u);
  series.add(1, std::vector<double>{5, NAN});
  ASSERT_EQ(series.size(), 1u);
  EXPECT_EQ(series.runs(0).size(), 1u);
}

TEST_F(DetectTest, AccuracyThatJumpsIsFoundTheNextMorning) {
  const size_t four = add("A/1", MetricKind::Accuracy, stepAt(39, 0.1, 0.4)),
               ulp = add("A/1", MetricKind::Accuracy, stepAt(39, 1, 4)),
               exact = add("A/1", MetricKind::Accuracy, stepAt(39, 0, 1e-6)),
               broken = add("A/1", MetricKind::Accuracy, stepAt(39, 0.1, NAN)),
               mended = add("A/1", MetricKind::Accuracy, stepAt(39, kInfinity, 0.1)),
               still = add("A/1", MetricKind::Accuracy, stepAt(39, kInfinity, NAN)),
               little = add("A/1", MetricKind::Accuracy, stepAt(39, 0.1, 0.11));
  const Judgement judgement = judged();
  for (const size_t worse : {four, ulp, exact, broken}) {
    ASSERT_EQ(judgement.series[worse].verdict, Verdict::Worse) << worse;
    EXPECT_TRUE(judgement.series[worse].fresh);
    EXPECT_TRUE(judgement.series[worse].change->jump);
    EXPECT_EQ(judgement.series[worse].change->firstBad, 39u);
  }
  EXPECT_DOUBLE_EQ(judgement.series[four].change->ratio, 4);
  EXPECT_EQ(judgement.series[exact].change->ratio, kInfinity);
  EXPECT_EQ(judgement.series[broken].change->to, kInfinity);
  EXPECT_EQ(judgement.series[mended].verdict, Verdict::Better);
  EXPECT_EQ(judgement.series[still].verdict, Verdict::Same);
  EXPECT_EQ(judgement.series[little].verdict, Verdict::Same);
}

TEST_F(DetectTest, AnAccuracyThatFluctuatesMustLeaveItsPast) {
  const size_t wild = add("A/1", MetricKind::Accuracy, [](size_t n) { return n % 5 == 4 ? 0.5 : 0.1; });
  EXPECT_EQ(verdictOf(wild).verdict, Verdict::Same);
}

TEST_F(DetectTest, BitsThatChangeAloneAreAStateOfTheirOwn) {
  const auto step = [](size_t n) { return uint64_t{n >= 39}; };
  add("Same/1", MetricKind::Accuracy, stepAt(39, 0.1, 0.1));
  add("Worse/1", MetricKind::Accuracy, stepAt(39, 0.1, 0.9));
  const size_t only = addDigest("Same/1", step), both = addDigest("Worse/1", step), alone = addDigest("None/1", step),
               same = addDigest("Same/1", [](size_t) { return 7; }),
               wild = addDigest("Same/1", [](size_t n) { return n; });
  const Judgement judgement = judged();
  EXPECT_EQ(judgement.series[only].bits, Bits::OnlyBits);
  EXPECT_EQ(judgement.series[only].verdict, Verdict::Same);
  EXPECT_TRUE(judgement.series[only].fresh);
  EXPECT_EQ(judgement.series[only].change->firstBad, 39u);
  EXPECT_EQ(judgement.series[both].bits, Bits::WithError);
  EXPECT_EQ(judgement.series[alone].bits, Bits::ErrorUnknown);
  EXPECT_EQ(judgement.series[same].bits, Bits::Same);
  EXPECT_EQ(judgement.series[wild].bits, Bits::Unstable);
  EXPECT_STREQ(nameOf(Bits::OnlyBits), "bits changed, error did not");
  size_t bits = 0, worse = 0;
  for (const Finding& finding : judgement.findings) {
    bits += finding.kind == FindingKind::Bits ? finding.series.size() : 0;
    worse += finding.kind == FindingKind::Worse ? finding.series.size() : 0;
  }
  EXPECT_EQ(bits, 2u) << "bits that moved with an error belong to the error";
  EXPECT_EQ(worse, 1u);
}

TEST_F(DetectTest, TheEnvironmentIsNamedInPlaceOfTheCommit) {
  for (size_t n = 0; n < 40; ++n) {
    Environment& environment = timeline().nights[n].environment;
    environment.driver = n < 35 ? "Mesa 22" : "Mesa 23";
    environment.kernel = n < 20 ? "6.1" : "6.2";
    environment.calibration = (n < 35 ? 100 : 90) + 0.1 * static_cast<double>(n % 3);
  }
  add("A/1", MetricKind::Time, stepAt(35, 1, 1.2));
  add("B/1", MetricKind::Time, stepAt(28, 1, 1.2));
  add("C/1", MetricKind::Accuracy, stepAt(35, 0.1, 0.6));
  const Judgement judgement = judged();
  EXPECT_EQ(judgement.series[0].change->moved, (std::vector<std::string>{"calibration", "driver"}));
  EXPECT_TRUE(judgement.series[1].change->moved.empty());
  EXPECT_EQ(judgement.series[2].change->moved, (std::vector<std::string>{"driver"}))
      << "a slower machine errs as before";
}

TEST_F(DetectTest, SeriesThatMovedTogetherAreOneFinding) {
  for (int i = 0; i < 5; ++i) add(fmt::format("Conv/{}", i), MetricKind::Time, stepAt(33, 1, 1.2 + 0.1 * i));
  add("Relu/1", MetricKind::Time, stepAt(33, 1, 0.8));
  add("Relu/2", MetricKind::Time, stepAt(25, 1, 1.3));
  const Judgement judgement = judged();
  ASSERT_EQ(judgement.findings.size(), 3u);
  const auto conv = std::find_if(judgement.findings.begin(), judgement.findings.end(),
                                 [](const Finding& finding) { return finding.series.size() == 5; });
  ASSERT_NE(conv, judgement.findings.end());
  EXPECT_EQ(conv->kind, FindingKind::Worse);
  EXPECT_EQ(conv->firstBad, 33u);
  EXPECT_EQ(conv->series.front(), 4u) << "the largest change first";
  EXPECT_EQ(conv->shared.op, "Conv");
  EXPECT_EQ(conv->shared.backend, "cpu");
  EXPECT_EQ(conv->shared.caseId, "");
}

TEST_F(DetectTest, SeriesWithNothingInCommonAreFindingsOfTheirOwn) {
  for (int i = 0; i < 3; ++i) {
    const size_t index = add(fmt::format("Op{}/1", i), MetricKind::Time, stepAt(33, 1, 1.3));
    history_.series[index].key.backend = fmt::format("backend{}", i);
    history_.series[index].key.provider = "";
  }
  EXPECT_EQ(judged().findings.size(), 3u);
}

TEST_F(DetectTest, APartIsJudgedAsStrictlyAsTheWhole) {
  // 6 % in nights of 1 %: enough for one series, not for one among a million.
  add("A/1", MetricKind::Time,
      [](size_t n) { return (n >= 37 ? 1.055 : 1) * (1 + 0.01 * std::sin(static_cast<double>(n * n))); });
  EXPECT_EQ(verdictOf(0).verdict, Verdict::Worse);
  EXPECT_EQ(judge(history_, {.leastHypotheses = 100000000}).series[0].verdict, Verdict::Same);
}

TEST_F(DetectTest, TwoNightsAreEvidenceWhenManySeriesMove) {
  const Settings strict{.leastRuns = 2, .leastHypotheses = 10000};
  add("A/1", MetricKind::Time, stepAt(38, 1, 1.5));
  EXPECT_EQ(judge(history_, strict).series[0].verdict, Verdict::Same);
  for (int i = 0; i < 100; ++i) add(fmt::format("A/{}", i + 2), MetricKind::Time, stepAt(38, 1, 1.5));
  EXPECT_EQ(judge(history_, strict).series[0].verdict, Verdict::Worse);
}

TEST_F(DetectTest, EmptyHistoryHasNoFindings) {
  EXPECT_TRUE(judge({}, {}).findings.empty());
  EXPECT_TRUE(judged().findings.empty());
}

TEST(Pooled, NightsAreJoinedFromTheLastOneBackwards) {
  Series series;
  series.kind = MetricKind::Time;
  for (const uint32_t night : {2u, 3u, 5u, 8u, 9u}) series.add(night, std::vector<double>(night == 5 ? 3 : 1, night));
  const Series joined = series.pooled(2);
  ASSERT_EQ(joined.size(), 3u) << "night 5 has enough by itself";
  const uint32_t nights[3][2] = {{2, 3}, {5, 5}, {8, 9}};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(joined.night(i), nights[i][0]);
    EXPECT_EQ(joined.lastNight(i), nights[i][1]);
  }
  EXPECT_EQ(joined.runs(1).size(), 3u);
  EXPECT_EQ(joined.runs(2).size(), 2u);
  EXPECT_EQ(series.pooled(3).size(), 1u) << "two runs are left over";
  EXPECT_EQ(series.pooled(3).night(0), 5u);
  EXPECT_EQ(series.pooled(2, 1).lastNight(1), 8u) << "the last night does not count";
  EXPECT_EQ(series.pooled(2, 9).size(), 0u);
  EXPECT_EQ(series.pooled(1).size(), 5u);
  EXPECT_EQ(series.pooled(8).size(), 0u);
}

/// Ten per cent slower from night `step` on, one process run a night.
History oneRunANight(size_t nights, size_t step) {
  History history{.timelines = std::vector<Timeline>(1), .series = std::vector<Series>(1)};
  history.series[0].key.caseId = "A/1";
  for (uint32_t n = 0; n < nights; ++n) {
    history.timelines[0].nights.push_back({.commit = fmt::format("c{}", n)});
    history.series[0].add(n, std::vector<double>{(n < step ? 1 : 1.1) * (1 + 0.002 * ((n * 7 + 3) % 11))});
  }
  return history;
}

TEST(Pooled, OneRunANightFindsAChangeOnceAfterThreeWeeks) {
  constexpr size_t kStep = 80;
  EXPECT_EQ(judge(oneRunANight(55, kStep), {}).series[0].verdict, Verdict::InsufficientData);
  size_t first = 0, fresh = 0;
  for (size_t nights = 56; nights <= kStep + 30; ++nights) {
    const SeriesVerdict verdict = judge(oneRunANight(nights, kStep), {}).series[0];
    if (nights <= kStep) {
      EXPECT_EQ(verdict.verdict, Verdict::Same) << nights;
    }
    if (verdict.verdict != Verdict::Worse) continue;
    if (first == 0) first = nights;
    fresh += verdict.fresh;
    EXPECT_LE(verdict.change->lastGood, kStep + 6);
    EXPECT_GE(verdict.change->firstBad, kStep - 6);
    EXPECT_EQ(verdict.change->firstBad, verdict.change->lastGood + 1) << "the joint between joined nights";
  }
  EXPECT_GT(first, kStep);
  EXPECT_LE(first, kStep + 21);
  EXPECT_EQ(fresh, 1u) << "though the joints are elsewhere each night";
}

}  // namespace
}  // namespace opkit::reports::detect
