#include "harness/check/verdict.h"

#include <gtest/gtest.h>

#include <set>

#include "harness/cases/vary.h"
#include "harness/check/placement_check.h"
#include "harness/check/walk.h"
#include "ops/builtin_ops.h"

namespace opkit::harness {
namespace {

/// A case of Relu on {1, 2} and outputs for it.
struct Two {
  PreparedCase c =
      prepareGroup({{*parseCaseId(R"(Relu/f32[2]/designed/seed=7/data=[{"values":[1,2]}])")}}, ops::builtinOps())
          .cases[0];
  static std::vector<Tensor> of(float first) {
    return {*Tensor::fromValues({DType::Float32, {2}}, std::vector<float>{first, 2})};
  }
};

TEST(Verdict, TwoRunsMustGiveTheSameBits) {
  const Two two;
  const OpDef& relu = *ops::builtinOps().find("Relu");
  const float close = std::nextafter(1.0f, 2.0f);
  EXPECT_TRUE(sameResult(relu, two.c, Two::of(1), Two::of(1)).isOk());
  EXPECT_FALSE(sameResult(relu, two.c, Two::of(1), Two::of(close)).isOk());
}

TEST(Verdict, UnorderedOperatorsMustAgreeWithinTheBound) {
  const Two two;
  OpDef unordered = *ops::builtinOps().find("Relu");
  unordered.unordered = true;
  unordered.numeric = NumericClass::OneRounding;
  const float close = std::nextafter(1.0f, 2.0f);
  EXPECT_TRUE(sameResult(unordered, two.c, Two::of(1), Two::of(close)).isOk());
  EXPECT_FALSE(sameResult(unordered, two.c, Two::of(1), Two::of(1.001f)).isOk());
  EXPECT_FALSE(sameResult(unordered, two.c, Two::of(NAN), Two::of(NAN)).isOk()) << "equally wrong is wrong";
}

TEST(Counters, NothingMayBeMadeOnReturningToAShape) {
  const BackendCounters before;
  EXPECT_TRUE(checkNothingNew(before, before, true).isOk());
  EXPECT_FALSE(checkNothingNew(before, {.executionsCreated = 1}, false).isOk());
  EXPECT_FALSE(checkNothingNew(before, {.pipelinesCreated = 1}, false).isOk());
  EXPECT_FALSE(checkNothingNew(before, {.allocations = 1}, true).isOk());
  EXPECT_TRUE(checkNothingNew(before, {.allocations = 1}, false).isOk()) << "the plan was forgotten";
}

TEST(Walk, GrowsShrinksPassesSizeOneAndReturns) {
  EXPECT_EQ(walkOrder(3), (std::vector<size_t>{0, 1, 2, 2, 1, 0}));
  std::set<std::string> shapes;
  for (const Case& stop : walkStops(*parseCaseId("Relu/f32[5,8]/normal/seed=7"))) shapes.insert(stop.inputText());
  EXPECT_TRUE(shapes.contains("f32[5,9]")) << "a case alone grows";
  EXPECT_TRUE(shapes.contains("f32[5,1]")) << "and passes through size 1";
}

}  // namespace
}  // namespace opkit::harness
