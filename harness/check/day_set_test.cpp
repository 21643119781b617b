#include "harness/check/day_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "harness/cases/costs.h"
#include "ops/builtin_ops.h"

namespace opkit::harness {
namespace {

const double kDay = DayBudget().coreSeconds();

class DaySetTest : public testing::Test {
 protected:
  DaySet of(double seconds, uint64_t day) { return daySet(catalogue_, registry_, {seconds, day}); }

  const OpRegistry registry_ = ops::builtinOps();
  const Catalogue catalogue_ = *builtinCatalogue(registry_);
};

TEST_F(DaySetTest, EveryGroupHasItsDay) {
  const DaySet first = of(180, 0);
  ASSERT_GT(first.days, 1u);
  EXPECT_EQ(first.coreDays, 1u) << "too much for one day: run `op-harness costs` again";
  std::set<size_t> seen;
  double seconds = 0;
  for (uint64_t day = 100; day < 100 + first.days; ++day) {
    const DaySet set = of(180, day);
    EXPECT_EQ(set.days, first.days);
    EXPECT_LE(set.seconds, 1.3 * kDay) << "day " << day;
    seconds += set.seconds;
    seen.insert(set.groups.begin(), set.groups.end());
  }
  EXPECT_EQ(seen.size(), catalogue_.groups.size());
  EXPECT_LE(seconds / static_cast<double>(first.days), 1.05 * kDay) << "on average";
}

TEST_F(DaySetTest, TheSetFollowsFromTheDay) {
  EXPECT_EQ(of(180, 7).groups, of(180, 7).groups);
  EXPECT_NE(of(180, 7).groups, of(180, 8).groups);
}

TEST_F(DaySetTest, FurtherGroupsAreBriefAndRotate) {
  std::set<size_t> seen;
  for (uint64_t day = 20; day < 24; ++day) {
    const DaySet set = of(180, day);
    EXPECT_GT(set.briefCases, set.cases);
    for (const size_t group : set.brief) EXPECT_EQ(std::ranges::count(set.groups, group), 0) << "twice a day";
    EXPECT_EQ(std::set(set.brief.begin(), set.brief.end()).size(), set.brief.size());
    const size_t before = seen.size();
    seen.insert(set.brief.begin(), set.brief.end());
    EXPECT_GT(seen.size(), before) << "day " << day << " brought nothing new";
  }
}

TEST_F(DaySetTest, AnotherSeedOfTheDataHasTheSameSet) {
  const auto seeded = applyFilter(catalogue_, {.seed = 11}, registry_);
  ASSERT_TRUE(seeded);
  EXPECT_EQ(daySet(*seeded, registry_, {180, 7}).groups, of(180, 7).groups);
}

TEST_F(DaySetTest, ASmallBudgetTakesAPartOfTheCore) {
  const DaySet set = of(10, 7);
  EXPECT_GT(set.coreDays, 2u);
  EXPECT_LE(set.seconds, 2 * DayBudget{.seconds = 10}.coreSeconds());
  EXPECT_GT(set.groups.size(), 0u);
}

TEST_F(DaySetTest, ALargeBudgetTakesAll) {
  const DaySet set = of(1e6, 3);
  EXPECT_EQ(set.days, 1u);
  EXPECT_EQ(set.groups.size(), catalogue_.groups.size());
  EXPECT_EQ(set.toString({1e6, 3}), fmt::format("all {} written cases fit the budget of 1000000 s", set.allCases));
}

TEST_F(DaySetTest, AllOfAnEditedOperatorThatFitsComesFirst) {
  const DaySet usual = of(180, 7), set = daySet(catalogue_, registry_, {180, 7, {"OneHot"}});
  std::set<size_t> whole(set.groups.begin(), set.groups.end());
  size_t edited = 0;
  for (size_t g = 0; g < catalogue_.groups.size(); ++g) {
    const Case& c = catalogue_.groups[g].cases.front();
    if (c.op != "OneHot" || c.anyFallback) continue;
    EXPECT_TRUE(whole.contains(g)) << c.id();
    ++edited;
  }
  for (size_t i = 0; i < edited; ++i) EXPECT_EQ(catalogue_.groups[set.groups[i]].cases.front().op, "OneHot");
  EXPECT_EQ(set.editedCases, set.allEditedCases);
  EXPECT_LE(set.seconds, 1.05 * (kDay + DayBudget().editedSeconds()));
  EXPECT_NEAR(static_cast<double>(set.days), static_cast<double>(usual.days), 2) << "the others rotate as always";
  EXPECT_NE(set.toString({180, 7, {"OneHot"}}).find("; edited: OneHot, "), std::string::npos);
}

TEST_F(DaySetTest, EditedOperatorsThatDoNotFitAreDividedAmongDays) {
  std::set<std::string> all;
  for (const OpDef* def : registry_.all()) all.insert(def->type);
  const DaySet today = daySet(catalogue_, registry_, {180, 7, all}),
               tomorrow = daySet(catalogue_, registry_, {180, 8, all});
  EXPECT_LE(today.seconds, 1.25 * (kDay + DayBudget().editedSeconds()));
  EXPECT_GT(today.editedCases, 0u);
  EXPECT_LT(today.editedCases, today.allEditedCases);
  EXPECT_NE(today.brief, tomorrow.brief);
  for (const size_t group : today.brief) EXPECT_EQ(std::ranges::count(today.groups, group), 0) << "twice a day";
}

TEST_F(DaySetTest, EveryOperatorIsInEveryDay) {
  std::set<std::string> today, all;
  const DaySet set = of(180, 5);
  for (const auto& groups : {set.groups, set.brief})
    for (const size_t group : groups) today.insert(catalogue_.groups[group].cases.front().op);
  for (const CaseGroup& group : catalogue_.groups) all.insert(group.cases.front().op);
  EXPECT_EQ(today, all) << "run `op-harness costs` again";
}

}  // namespace
}  // namespace opkit::harness
