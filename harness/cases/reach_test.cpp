#include "harness/cases/reach_catalogue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "harness/cases/data.h"
#include "harness/cases/features.h"
#include "harness/cases/vary.h"
#include "ops/builtin_ops.h"

namespace opkit::harness {
namespace {

std::vector<Case> drawn(const std::string& op, uint64_t seed = kDefaultSeed) {
  auto catalogue = builtinCatalogue(ops::builtinOps());
  EXPECT_TRUE(catalogue) << catalogue.error().message();
  const size_t written = catalogue->groups.size();
  catalogue = reachCatalogue(*std::move(catalogue), ops::builtinOps(), {op}, seed);
  EXPECT_TRUE(catalogue) << catalogue.error().message();
  std::vector<Case> cases;
  for (size_t g = written; g < catalogue->groups.size(); ++g) cases.push_back(catalogue->groups[g].cases.front());
  return cases;
}

size_t count(const std::vector<Case>& cases, const std::function<bool(const Case&)>& is) {
  return static_cast<size_t>(std::count_if(cases.begin(), cases.end(), is));
}

TEST(Reach, GoesToEveryPlace) {
  const std::vector<Case> conv = drawn("Conv"), matmul = drawn("MatMul"), sum = drawn("Sum"), add = drawn("Add");
  const auto extent = [](size_t axis, int64_t least) {
    return [=](const Case& c) { return c.inputs[0]->shape.size() > axis && c.inputs[0]->shape[axis] >= least; };
  };
  for (size_t axis = 0; axis < 2; ++axis) EXPECT_GE(count(add, extent(axis, 65537)), 1u) << "axis " << axis;
  for (size_t axis = 2; axis < 4; ++axis) EXPECT_GE(count(conv, extent(axis, 65537)), 1u) << "axis " << axis;
  EXPECT_GE(count(matmul, [](const Case& c) { return c.inputs[0]->shape.back() > 1024; }), 1u);
  EXPECT_GE(count(conv, extent(0, 5)), 1u);
  EXPECT_GE(count(add, [](const Case& c) { return c.inputs[0]->shape.size() == 6; }), 1u);
  EXPECT_GE(count(sum, [](const Case& c) { return c.inputs.size() >= 7; }), 1u);
  EXPECT_GE(count(add,
                  [](const Case& c) {
                    return kIntegers.contains(c.inputs[0]->dtype) && sizeOf(c.inputs[0]->dtype) == 8 &&
                           c.data.size() > 1;
                  }),
            1u);
  EXPECT_GE(count(conv, [](const Case& c) { return c.params.find("dilations") < c.params.find("strides"); }), 1u);
}

TEST(Reach, TheSameSeedDrawsTheSameCases) {
  const auto ids = [](uint64_t seed) {
    std::vector<std::string> list;
    for (const Case& c : drawn("Softmax", seed)) list.push_back(c.id());
    return list;
  };
  EXPECT_EQ(ids(3), ids(3));
  EXPECT_NE(ids(3), ids(4));
}

TEST(Reach, TheNumberOfThreadsDoesNotMatter) {
  const OpRegistry registry = ops::builtinOps();
  const std::vector<std::string> ops = {"Add", "MatMul", "ReduceSum", "Sigmoid"};
  const auto base = builtinCatalogue(registry, ops);
  ASSERT_TRUE(base);
  const auto idsOf = [&](ReachOptions options) {
    size_t steps = 0, all = 0;
    options.progress = [&](size_t done, size_t of) { steps = done, all = of; };
    const auto drawn = reachCatalogue(*base, registry, ops, kDefaultSeed, options);
    EXPECT_TRUE(drawn);
    EXPECT_EQ(steps, all);
    std::vector<std::string> ids;
    for (const CaseGroup& group : drawn->groups)
      for (const Case& c : group.cases) ids.push_back(c.id());
    return ids;
  };
  for (const std::optional<DrawsOfDay>& day : {std::optional<DrawsOfDay>(), std::optional(DrawsOfDay{7, 1e6})}) {
    const auto alone = idsOf({.ofDay = day, .threads = 1});
    EXPECT_GT(alone.size(), base->groups.size() + 10);
    EXPECT_EQ(alone, idsOf({.ofDay = day, .threads = 5}));
  }
}

/// The names of the cases drawn for an operator.
std::set<std::string> drawnNames(const Catalogue& base, const OpRegistry& registry, const std::string& op,
                                 const std::optional<DrawsOfDay>& day) {
  const auto drawn = reachCatalogue(base, registry, {op}, kDefaultSeed, {.ofDay = day});
  EXPECT_TRUE(drawn);
  std::set<std::string> names;
  for (size_t g = base.groups.size(); g < drawn->groups.size(); ++g) names.insert(drawn->groups[g].cases.front().name);
  return names;
}

TEST(Features, CandidatesOfAPairHaveBoth) {
  const OpRegistry registry = ops::builtinOps();
  const auto base = builtinCatalogue(registry);
  ASSERT_TRUE(base);
  const auto examples = examplesOf(*base);
  for (const char* op : {"Add", "Softmax", "Conv", "DequantizeLinear", "FusedAttention", "Where"}) {
    const OpDef& def = *registry.find(op);
    const std::vector<Feature> features = featuresOf(def, examples.at(op), true);
    const std::vector<Place> places = placesOfPairs(def, examples.at(op), true);
    Rng rng(1);
    size_t found = 0;
    for (const Place& place : places) {
      std::vector<Feature> pair;
      for (const Feature& feature : features)
        if (place.name.starts_with("the pair " + feature.name + " and ") ||
            place.name.ends_with(" and " + feature.name))
          pair.push_back(feature);
      ASSERT_EQ(pair.size(), 2u) << place.name;
      for (size_t attempt = 0; attempt < 8; ++attempt)
        for (const Case& c : place.vary(*pick(examples.at(op), rng), def, examples.at(op), 0, rng)) {
          EXPECT_TRUE(pair[0].has(c) && pair[1].has(c)) << place.name << ": " << c.id();
          ++found;
        }
    }
    EXPECT_GT(found, places.size()) << op;
  }
}

TEST(Features, ThePairsOfADayRotateOverAll) {
  const OpRegistry registry = ops::builtinOps();
  const std::string op = "Clip";
  const auto base = builtinCatalogue(registry, {op});
  ASSERT_TRUE(base);
  const std::vector<Place> places = placesOfPairs(*registry.find(op), examplesOf(*base).at(op), true);
  const auto onlyPairs = [&](std::set<std::string> names) {
    std::set<std::string> pairs;
    for (const Place& place : places)
      if (names.contains("drawn for " + place.name)) pairs.insert(place.name);
    return pairs;
  };
  std::set<std::string> seen;
  for (uint64_t day = 1000; day < 1000 + kPairDays; ++day) {
    const std::set<std::string> ofDay = onlyPairs(drawnNames(*base, registry, op, DrawsOfDay{day, 0}));
    EXPECT_LE(ofDay.size(), places.size() / kPairDays + 1) << "on day " << day;
    for (const std::string& name : ofDay) EXPECT_TRUE(seen.insert(name).second) << name << " has two days";
  }
  const std::set<std::string> all = onlyPairs(drawnNames(*base, registry, op, std::nullopt));
  EXPECT_GT(all.size(), 10u);
  EXPECT_TRUE(std::ranges::includes(seen, all)) << seen.size() << " of " << all.size();
}

/// Pairs without which faults survived that were planted after reports of bugs.
TEST(Features, OperatorsHaveThePairsThatFaultsNeed) {
  const OpRegistry registry = ops::builtinOps();
  const auto base = builtinCatalogue(registry);
  ASSERT_TRUE(base);
  const struct {
    const char *op, *pair;
  } rows[] = {{"Add", "one input repeats along rows of thousands and attribute clamp_low"},
              {"Softmax", "an axis of thousands and -Inf before each number"},
              {"Softmax", "an axis of thousands and half of each row hidden"},
              {"DequantizeLinear", "attribute axis and attribute block_size"},
              {"QuantizeLinear", "attribute axis and attribute block_size"},
              {"Conv", "attribute strides and attribute group"},
              {"FusedAttention", "an extent beside a multiple and input mask"},
              {"MatMul", "an extent beside a multiple and f16"},
              {"LayerNormalization", "an axis of thousands and f16"},
              {"Where", "an axis of thousands and one input repeats each row of thousands"},
              {"ReduceMax", "NaN and attribute axes"}};
  const auto examples = examplesOf(*base);
  const std::set<std::string> infinities = operatorsOfInfinities(*base);
  for (const auto& [op, pair] : rows) {
    const OpDef& def = *registry.find(op);
    const std::vector<Place> places = placesOfPairs(def, examples.at(op), infinities.contains(op));
    const auto place = std::ranges::find(places, std::string("the pair ") + pair, &Place::name);
    ASSERT_NE(place, places.end()) << op << ": " << pair;
    Rng rng(1);
    EXPECT_TRUE(drawAt(*place, 0, def, examples.at(op), registry, rng)) << op << ": " << pair;
  }
}

TEST(Reach, BitsFillBothWordsAndMeetInOne) {
  const auto c = parseCaseId(R"(Add/i64[999],i64[999]/designed/seed=7/data=[{"pattern":"bits"},{"pattern":"bits"}])");
  ASSERT_TRUE(c) << c.error().message();
  const auto inputs = makeInputs(*c, *ops::builtinOps().find("Add"));
  ASSERT_TRUE(inputs);
  size_t high = 0, negative = 0, meet = 0;
  const auto a = (*inputs)[0]->data<int64_t>(), b = (*inputs)[1]->data<int64_t>();
  for (size_t i = 0; i < a.size(); ++i) {
    high += a[i] != static_cast<int32_t>(a[i]);
    negative += a[i] < 0;
    meet += a[i] != b[i] && static_cast<int32_t>(a[i]) == static_cast<int32_t>(b[i]);
  }
  EXPECT_GT(high, 500u);
  EXPECT_GT(negative, 300u);
  EXPECT_GT(meet, 20u) << "equal in the low word alone";
}

}  // namespace
}  // namespace opkit::harness
