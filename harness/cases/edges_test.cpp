#include "harness/cases/edges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "harness/cases/data.h"
#include "harness/cases/edge_values.h"
#include "harness/cases/reach.h"
#include "ops/binary/binary.h"
#include "ops/builtin_ops.h"
#include "ops/unary/unary.h"

namespace opkit::harness {
namespace {

template <class T>
bool has(const std::vector<T>& values, T value) {
  return std::ranges::find(values, value) != values.end();
}

TEST(Edges, HoldTheEndsOfFloats) {
  using Limits = std::numeric_limits<float>;
  const std::vector<double> values = edgeReals(DType::Float32, {});
  for (const float x : {Limits::denorm_min(), std::nextafter(Limits::min(), 0.0f), Limits::min(), Limits::max(),
                        std::nextafter(Limits::max(), 0.0f), 0.5f, 1.0f, 1.5f, 2.5f, std::nextafter(1.0f, 0.0f),
                        std::nextafter(1.0f, 2.0f)})
    EXPECT_TRUE(has<double>(values, x) && has<double>(values, -x)) << x;
  EXPECT_EQ(std::ranges::count(values, 0.0), 2) << "of both signs";
  EXPECT_EQ(std::ranges::count_if(values, [](double x) { return x == 0 && std::signbit(x); }), 1);
  EXPECT_TRUE(std::ranges::all_of(values, [](double x) { return std::isfinite(x); }));
  const std::vector<double> halves = edgeReals(DType::Float16, {1e9});
  EXPECT_TRUE(has(halves, 65504.0) && has(halves, 65472.0) && has(halves, 0x1p-24) && has(halves, -0x1p-14));
  EXPECT_TRUE(std::ranges::all_of(halves, [](double x) { return std::fabs(x) <= 65504; }));
  EXPECT_TRUE(has(edgeReals(DType::Float8E4M3FN, {}), 448.0));
}

TEST(Edges, HoldPointsAndTheirNeighbours) {
  const std::vector<double> values = edgeReals(DType::Float32, {0.35, 2});
  for (const float x : {std::nextafter(0.35f, 0.0f), 0.35f, std::nextafter(0.35f, 1.0f), std::nextafter(2.0f, 0.0f),
                        std::nextafter(2.0f, 3.0f)})
    EXPECT_TRUE(has<double>(values, x) && has<double>(values, -x)) << x;
  const OpDef& clip = *ops::builtinOps().find("Clip");
  EXPECT_TRUE(has(edgePoints(clip, R"({"alpha":-1,"beta":2.25})"), 2.25)) << "numbers among the parameters too";
  const auto isEpsilon = [](double x) { return std::fabs(x - 1e-5) < 1e-9; };
  const OpDef& norm = *ops::builtinOps().find("LayerNormalization");
  EXPECT_TRUE(std::ranges::any_of(edgePoints(norm, "{}"), isEpsilon)) << "and their defaults";
}

TEST(Edges, HoldTheLimitsOfIntegers) {
  const std::vector<int64_t> bytes = edgeIntegers(DType::Int8, {8, 0.5});
  for (const int64_t x : {-128, -127, 127, 126, 0, -1, 7, 8, 9, -8}) EXPECT_TRUE(has(bytes, x)) << x;
  EXPECT_TRUE(std::ranges::all_of(bytes, [](int64_t x) { return x >= -128 && x <= 127; }));
  const std::vector<int64_t> longs = edgeIntegers(DType::UInt64, {0x1p63});
  EXPECT_TRUE(has<int64_t>(longs, -1) && has<int64_t>(longs, -2)) << "the bits of the largest";
  EXPECT_TRUE(has(longs, std::numeric_limits<int64_t>::min()) && has(longs, std::numeric_limits<int64_t>::max()));
  EXPECT_EQ(edgeIntegers(DType::Bool, {3}), (std::vector<int64_t>{0, 1}));
}

TEST(Edges, EveryOneMeetsEveryOther) {
  const OpDef& sub = *ops::builtinOps().find("Sub");
  Case c = *parseCaseId("Sub/i8[1],i8[1]/edges/seed=7");
  const auto count = static_cast<int64_t>(edgeElements(c, sub));
  for (auto& input : c.inputs) input->shape = {count};
  const auto inputs = makeInputs(c, sub);
  ASSERT_TRUE(inputs);
  std::set<std::pair<int8_t, int8_t>> pairs;
  std::set<int8_t> each;
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    pairs.emplace((*inputs)[0]->data<int8_t>()[i], (*inputs)[1]->data<int8_t>()[i]);
    each.insert((*inputs)[0]->data<int8_t>()[i]);
  }
  EXPECT_GE(each.size(), 10u);
  EXPECT_EQ(pairs.size(), each.size() * each.size());
}

/// Every row of the elementwise families has cases of every dtype that its port takes.
TEST(Edges, AreDrawnForElementwiseOperators) {
  const OpRegistry& registry = ops::builtinOps();
  const auto written = builtinCatalogue(registry);
  ASSERT_TRUE(written) << written.error().message();
  const auto examples = examplesOf(*written);
  std::vector<std::string> types = {"Cast", "CastLike", "Not", "Where"};
  for (const auto& row : ops::unary::functions()) types.emplace_back(row.name);
  for (const auto& row : ops::binary::functions()) types.emplace_back(row.name);
  for (const std::string& type : types) {
    const OpDef& def = *registry.find(type);
    std::set<DType> dtypes;
    ASSERT_TRUE(examples.contains(type)) << type;
    for (const Case& c : edgeCases(def, examples.at(type), registry)) {
      EXPECT_EQ(c.lane, Lane::Edges);
      dtypes.insert(c.inputs.back()->dtype);
    }
    for (int i = 1; i < 32; ++i) {
      const bool isTaken = isValidDType(i) && def.inputs.back().dtypes.contains(static_cast<DType>(i));
      EXPECT_TRUE(!isTaken || dtypes.contains(static_cast<DType>(i))) << type << " " << nameOf(static_cast<DType>(i));
    }
  }
}

}  // namespace
}  // namespace opkit::harness
