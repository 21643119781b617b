#include "harness/cases/reach_catalogue.h"

#include <gtest/gtest.h>

#include "harness/cases/data.h"
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
