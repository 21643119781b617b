#include "engine/op/loop_region.h"

#include <gtest/gtest.h>

namespace opkit {
namespace {

/// y[i, j, :] = x[i, j, :] of extents 2, 3, 4 as a loop over i and j.
LoopRegion rows() {
  LoopRegion loop;
  loop.iterations = {2, 3};
  loop.size = {2, 2};
  loop.operands = {{.steps = {12, 4}, .strides = {2, 1}}};
  loop.target = {.steps = {12, 4}, .strides = {2, 1}};
  return loop;
}

Status check(const LoopRegion& loop, int64_t inputCount, int64_t outputCount) {
  const TensorDesc input{DType::Float32, {inputCount}}, indices{DType::Int64, {6}};
  const TensorDesc* inputs[] = {&input, &indices};
  return checkLoop(loop, inputs, {DType::Float32, {outputCount}});
}

TEST(LoopRegion, MergesWhatContinuesInEveryView) {
  const LoopRegion merged = mergeLoop(rows());
  EXPECT_EQ(merged.iterations, (Shape{6}));
  EXPECT_EQ(merged.target.steps, (std::vector<int64_t>{4}));
  EXPECT_EQ(merged.size, (Shape{4}));
  EXPECT_EQ(merged.operands[0].strides, (std::vector<int64_t>{1}));
}

TEST(LoopRegion, IndicesKeepDimensionsApart) {
  LoopRegion loop = rows();
  loop.indices = {.source = 1, .steps = {0, 1}, .terms = {{.extent = 1, .stride = 24}}};
  const LoopRegion merged = mergeLoop(loop);
  EXPECT_EQ(merged.iterations, (Shape{2, 3}));
  EXPECT_EQ(merged.indices.steps, (std::vector<int64_t>{0, 1}));
}

TEST(LoopRegion, CommandsWithRolesKeepTheirDimensions) {
  LoopRegion loop;
  loop.command = LoopRegion::Command::Product;
  loop.iterations = {1};
  loop.size = {1, 1, 4};
  loop.operands = {{.steps = {4}, .strides = {4, 0, 1}}, {.steps = {4}, .strides = {0, 1, 1}}};
  loop.target = {.steps = {1}, .strides = {1, 1, 0}};
  const LoopRegion merged = mergeLoop(loop);
  EXPECT_TRUE(merged.iterations.empty());
  EXPECT_EQ(merged.size, (Shape{1, 1, 4}));
}

TEST(LoopRegion, ChecksEveryView) {
  EXPECT_TRUE(check(rows(), 24, 24).isOk());
  EXPECT_EQ(check(rows(), 23, 24).message(), "loop: the operand must stay in [0, 23), it reaches from 0 to 23");
  LoopRegion loop = rows();
  loop.target.offset = 1;
  EXPECT_EQ(check(loop, 24, 24).message(), "loop: the target must stay in [0, 24), it reaches from 1 to 24");
  loop = rows();
  loop.operands[0].strides = {-2, 1};
  EXPECT_EQ(check(loop, 24, 24).message(), "loop: the operand must stay in [0, 24), it reaches from -2 to 21");
  loop = rows();
  loop.indices = {.source = 1, .steps = {3, 1}, .terms = {{.offset = 1, .extent = 2, .stride = 24}}};
  EXPECT_EQ(check(loop, 24, 24).message(), "loop: the operand must stay in [0, 24), it reaches from 0 to 47");
  EXPECT_EQ(check(loop, 48, 24).message(), "loop: the indices must stay in [0, 6), it reaches from 1 to 6");
}

TEST(LoopRegion, ScattersReachWhereTheirIndicesMoveThem) {
  LoopRegion loop;
  loop.command = LoopRegion::Command::Scatter;
  loop.iterations = {2};
  loop.size = {3};
  loop.operands = {{.steps = {3}, .strides = {1}}};
  loop.target = {.steps = {0}, .strides = {1}};
  loop.indices = {.source = 1, .steps = {1}, .terms = {{.extent = 4, .stride = 3}}};
  loop.base = 2;
  const TensorDesc updates{DType::Float32, {6}}, indices{DType::Int64, {2}}, base{DType::Float32, {4, 3}};
  const TensorDesc* inputs[] = {&updates, &indices, &base};
  EXPECT_EQ(checkLoop(loop, inputs, base).message(), "");
  EXPECT_EQ(checkLoop(loop, inputs, {DType::Float16, {4, 3}}).message(),
            "loop: the base f32[4,3] must be like the output f16[4,3]");
  loop.indices.terms[0].stride = 4;
  EXPECT_EQ(checkLoop(loop, inputs, base).message(), "loop: the target must stay in [0, 12), it reaches from 0 to 14");
  loop.size = {0};
  EXPECT_EQ(checkLoop(loop, inputs, base).message(), "") << "nothing is written";
}

TEST(LoopRegion, NothingToReadIsFine) {
  LoopRegion loop;
  loop.command = LoopRegion::Command::Product;
  loop.size = {2, 3, 0};
  loop.operands = {{.strides = {0, 0, 1}}, {.strides = {0, 1, 3}}};
  loop.target = {.strides = {3, 1, 0}};
  EXPECT_TRUE(check(loop, 0, 6).isOk());
}

}  // namespace
}  // namespace opkit
