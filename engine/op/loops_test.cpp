#include "engine/op/loops.h"

#include <gtest/gtest.h>

namespace opkit {
namespace {

TEST(Loops, EqualShapesAreOneLoop) {
  const Loops loops = loopsOver({2, 3, 4}, {{2, 3, 4}, {2, 3, 4}});
  EXPECT_EQ(loops.size, (Shape{24}));
  EXPECT_EQ(loops.strides[0], (std::vector<int64_t>{1}));
}

TEST(Loops, ScalarsNeedNone) {
  EXPECT_TRUE(loopsOver({1, 1}, {{}, {1}}).size.empty());
  EXPECT_TRUE(loopsOver({}, {{}}).size.empty());
}

TEST(Loops, MergeStopsWhereOneOperandRepeats) {
  const Loops loops = loopsOver({2, 3, 4}, {{2, 3, 4}, {3, 1}});
  EXPECT_EQ(loops.size, (Shape{2, 3, 4}));
  EXPECT_EQ(loops.strides[0], (std::vector<int64_t>{12, 4, 1}));
  EXPECT_EQ(loops.strides[1], (std::vector<int64_t>{0, 1, 0}));
}

TEST(Loops, RepeatedAxesMergeWithEachOther) {
  const Loops loops = loopsOver({2, 3, 4}, {{2, 3, 4}, {4}});
  EXPECT_EQ(loops.size, (Shape{6, 4}));
  EXPECT_EQ(loops.strides[1], (std::vector<int64_t>{0, 1}));
}

TEST(Loops, GiveEachOperandsStrides) {
  const Loops loops = loopsOver({2, 3}, {{2, 1}, {3}});
  EXPECT_EQ(loops.size, (Shape{2, 3}));
  EXPECT_EQ(loops.strides, (std::vector<DimVector>{{1, 0}, {0, 1}}));
}

TEST(Loops, EmptyShapesStayEmpty) { EXPECT_EQ(elementCount(loopsOver({3, 0}, {{3, 0}}).size), 0); }

TEST(Loops, PackPadsWithZeros) { EXPECT_EQ(packed<4>({7, 5}), (std::array<int64_t, 4>{7, 5, 0, 0})); }

}  // namespace
}  // namespace opkit
