#include "harness/cases/fuzz.h"

#include <gtest/gtest.h>

#include "harness/cases/accept.h"
#include "harness/check/prepared.h"
#include "harness/check/trust.h"
#include "ops/builtin_ops.h"

namespace opkit::harness {
namespace {

std::vector<std::string> drawn(uint64_t seed, std::vector<std::string> ops = {"Softmax", "Conv", "Add", "Concat"}) {
  const auto catalogue = fuzzCatalogue({}, {}, ops::builtinOps(), {std::move(ops), 5, seed, ""});
  EXPECT_TRUE(catalogue) << catalogue.error().message();
  std::vector<std::string> ids;
  if (!catalogue) return ids;
  EXPECT_EQ(catalogue->notes.size(), 1u);
  for (const CaseGroup& group : catalogue->groups) ids.push_back(group.cases[0].id());
  return ids;
}

TEST(Fuzz, TheSameSeedDrawsTheSameCases) {
  EXPECT_EQ(drawn(3), drawn(3));
  EXPECT_NE(drawn(3), drawn(4));
}

TEST(Fuzz, EveryDrawIsAValidCase) {
  const auto ids = drawn(5, {"Softmax", "Add", "Concat"});
  EXPECT_GE(ids.size(), 10u);
  for (const std::string& id : ids) {
    const auto c = parseCaseId(id);
    ASSERT_TRUE(c) << c.error().message();
    EXPECT_EQ(c->id(), id);
    EXPECT_TRUE(prepareGroup({{*c}}, ops::builtinOps()).cases[0].status.isOk()) << id;
  }
}

TEST(Fuzz, ExamplesHelpWhereCardsSayLittle) {
  auto all = builtinCatalogue(ops::builtinOps());
  ASSERT_TRUE(all);
  const size_t before = all->groups.size();
  const auto grown = fuzzCatalogue(*all, *all, ops::builtinOps(), {{"Conv", "Gather"}, 4, 7, ""});
  ASSERT_TRUE(grown) << grown.error().message();
  EXPECT_EQ(grown->groups.size(), before + 8);
  // A filter leaves the examples whole: it chooses among the draws.
  const auto alone = fuzzCatalogue({}, *all, ops::builtinOps(), {{"Conv"}, 4, 7, "drawn"});
  ASSERT_TRUE(alone) << alone.error().message();
  EXPECT_EQ(alone->groups.size(), 4u);
}

TEST(Fuzz, WhatProvesNothingIsNotDrawn) {
  const OpRegistry registry = ops::builtinOps();
  const auto ids = drawn(9, {"ArgMax", "Sign"});
  EXPECT_FALSE(ids.empty());
  for (const std::string& id : ids) {
    const PreparedGroup group = prepareGroup({{*parseCaseId(id)}}, registry);
    const PreparedCase& c = group.cases[0];
    EXPECT_TRUE(checkSensitivity(*registry.find(c.description.op), c).isOk()) << id;
  }
}

TEST(Fuzz, ExactSumsAreOfValuesThatNeedNoRounding) {
  const OpRegistry registry = ops::builtinOps();
  const auto of = [&](const char* id) {
    const auto c = parseCaseId(id);
    EXPECT_TRUE(c) << id;
    return acceptDrawn(*registry.find(c->op), registry, *c, {});
  };
  EXPECT_TRUE(of("ReduceSum/f64[15,1,7]/exact/seed=3").isOk());
  EXPECT_EQ(of(R"(ReduceLogSumExp{"keep_dims":true}/f64[15,1,7]/exact/seed=99973)").message(),
            "an expected value of the exact lane needs a rounding");
}

TEST(Fuzz, TermsFitIntoTheTypeOfTheComputation) {
  const OpRegistry registry = ops::builtinOps();
  const auto of = [&](const std::string& range) {
    const auto c = parseCaseId(R"(LinearRecurrence{"kv_heads":3,"q_heads":3,"rule":"Delta"}/)"
                               "f32[2,5,24],f32[2,5,24],f32[2,5,15],-,-,f32[2,5,3]/designed/seed=3/data=[" +
                               range + "," + range + "," + range + R"(,null,null,{"range":[0,1]}])");
    EXPECT_TRUE(c) << c.error().message();
    return acceptDrawn(*registry.find(c->op), registry, *c, {}).message();
  };
  EXPECT_EQ(of(R"({"range":[-1,1]})"), "");
  EXPECT_EQ(of(R"({"range":[-1e6,1e6]})"), "the terms of an expected value exceed the type of the computation");
}

TEST(Fuzz, EveryOperatorIsDrawnFor) {
  const auto all = fuzzCatalogue({}, {}, ops::builtinOps(), {{}, 1, 7, ""});
  ASSERT_TRUE(all) << all.error().message();
  EXPECT_GE(all->groups.size(), 90u);  // the rest needs an example
}

}  // namespace
}  // namespace opkit::harness
