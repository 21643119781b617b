#include "harness/check/verdict.h"

#include <gtest/gtest.h>

#include <cmath>
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

/// Edges of a function of f32, and its outputs for inputs whose denormal numbers are zero.
TEST(Verdict, ADeviceMayFlushDenormalEdges) {
  const OpDef& log = *ops::builtinOps().find("Log");
  const PreparedCase c = prepareCase(*parseCaseId("Log/f32[40]/edges/seed=7"), ops::builtinOps());
  ASSERT_TRUE(c.status.isOk()) << c.status.message();
  Tensor got = *Tensor::onHost(c.expected[0].desc);
  size_t denormals = 0;
  for (size_t i = 0; i < 40; ++i) {
    const float x = c.inputs[0]->data<float>()[i];
    const bool isFlushed = x != 0 && std::fabs(x) < 0x1p-126f;
    got.data<float>()[i] = isFlushed ? -INFINITY : static_cast<float>(c.expected[0].real[i]);
    denormals += isFlushed && x > 0;
  }
  EXPECT_EQ(denormals, 2u);
  EXPECT_TRUE(compareAll(log, c, {got}, true).total.pass);
  EXPECT_FALSE(compareAll(log, c, {got}, false).total.pass) << "the host keeps them";
  got.data<float>()[0] = 3;
  EXPECT_FALSE(compareAll(log, c, {got}, true).total.pass);
}

TEST(Verdict, ADeviceMayFlushDenormalResults) {
  const OpDef& neg = *ops::builtinOps().find("Neg");
  const PreparedCase c = prepareCase(*parseCaseId("Neg/f32[40]/edges/seed=7"), ops::builtinOps());
  Tensor got = *Tensor::onHost(c.expected[0].desc);
  for (size_t i = 0; i < 40; ++i) {
    const auto y = static_cast<float>(c.expected[0].real[i]);
    got.data<float>()[i] = std::fabs(y) < 0x1p-126f ? std::copysign(0.0f, y) : y;
  }
  EXPECT_TRUE(compareAll(neg, c, {got}, true).total.pass);
  EXPECT_FALSE(compareAll(neg, c, {got}, false).total.pass);
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
