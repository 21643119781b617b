#include "engine/op/shape_rules.h"

#include <gtest/gtest.h>

#include "engine/op/rows.h"

namespace opkit {
namespace {

struct Inputs {
  std::vector<TensorDesc> descs;
  std::vector<const TensorDesc*> present;

  explicit Inputs(std::vector<TensorDesc> list) : descs(std::move(list)) {
    for (const TensorDesc& desc : descs) present.push_back(&desc);
  }
  ShapeArgs args() const { return {.inputs = present}; }
};

TEST(ShapeRules, ParametersHaveTheTypeAndTheShape) {
  Inputs inputs({{DType::Float32, {2, 3, 5}}, {DType::Float32, {5}}, {DType::Float16, {5}}, {DType::Float32, {3}}});
  EXPECT_EQ(requireParameter(inputs.args(), 1, "scale", {5}).message(), "");
  EXPECT_EQ(requireParameter(inputs.args(), 2, "bias", {5}).message(), "bias must be f32 like input 0, got f16");
  EXPECT_EQ(requireParameter(inputs.args(), 3, "bias", {5}).message(), "bias must be [5] for input [2,3,5], got [3]");
  EXPECT_EQ(requireSameType(inputs.args(), 2, "other", 1).message(), "other must be f32 like input 1, got f16");
  inputs.present[2] = nullptr;
  EXPECT_EQ(requireParameter(inputs.args(), 2, "bias", {5}).message(), "") << "absent";
  EXPECT_EQ(requireParameter(inputs.args(), 9, "bias", {5}).message(), "") << "beyond the end";
}

TEST(ShapeRules, ListsHaveOneAxisAtMost) {
  const Inputs inputs({{DType::Int64, {2}}, {DType::Int64, {}}, {DType::Int64, {2, 1}}});
  EXPECT_TRUE(requireList(inputs.args(), 0, "axes").isOk());
  EXPECT_TRUE(requireList(inputs.args(), 1, "axes").isOk());
  EXPECT_EQ(requireList(inputs.args(), 2, "axes").message(), "axes must be a list, got [2,1]");
  EXPECT_TRUE(requireList(inputs.args(), 3, "axes").isOk()) << "absent";
}

TEST(ShapeRules, GroupsDivideTheChannels) {
  EXPECT_TRUE(checkGroups({2, 6, 4}, 3, "groups").isOk());
  EXPECT_TRUE(checkGroups({2, 0, 4}, 3, "groups").isOk()) << "no channels";
  for (const int64_t groups : {0, -1, 4, 7})
    EXPECT_EQ(checkGroups({2, 6, 4}, groups, "groups").message(),
              fmt::format("groups must divide the 6 channels of [2,6,4], got {}", groups));
  EXPECT_EQ(checkGroups({2}, 1, "groups").message(), "the input must be [batch, channels, ...], got [2]");
}

TEST(Rows, FromAnAxisOn) {
  const Rows rows = rowsFrom({2, 3, 5}, -2);
  EXPECT_EQ(rows.count(), 2);
  EXPECT_EQ(rows.extent, 15);
  EXPECT_EQ(rows.at(1, 4), 19u);
}

TEST(Rows, GroupsOfChannelsVisitEveryElementOfTheirChannels) {
  const Shape shape{2, 6, 2, 2};
  const GroupRows rows = rowsOfGroups(shape, 3);
  EXPECT_EQ(rows.count(), 6);
  EXPECT_EQ(rows.extent, 8);
  std::vector<int> seen(48);
  for (int64_t row = 0; row < rows.count(); ++row)
    for (int64_t i = 0; i < rows.extent; ++i) {
      const size_t at = rows.at(row, i);
      ++seen.at(at);
      EXPECT_EQ(rows.channelAt(row, i), at / 4 % 6);
    }
  EXPECT_EQ(seen, std::vector<int>(48, 1));
}

}  // namespace
}  // namespace opkit
