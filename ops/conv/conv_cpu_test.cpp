#include <cmath>

#include "engine/backend/kernel_test_support.h"
#include "ops/builtin_ops.h"
#include "ops/conv/conv.h"

namespace opkit::ops::conv {
namespace {

using opkit::testing::expectKernelMatchesOracle;
using opkit::testing::KernelRunner;
using opkit::testing::smallIntegers;

struct Case {
  std::string name;
  Shape x, w;
  std::vector<int64_t> strides, pads, dilations;
  int64_t group = 1;
};

ParamBytes paramsOf(const Case& c) {
  ConvParamsT params;
  params.strides = c.strides;
  params.pads = c.pads;
  params.dilations = c.dilations;
  params.group = c.group;
  return packParams(params);
}

const Case kCases[] = {
    {"pointwise", {2, 5, 7, 9}, {6, 5, 1, 1}},
    {"pointwise with strides", {1, 5, 8, 11}, {6, 5, 1, 1}, {3, 2}},
    {"pointwise with padding", {1, 5, 4, 3}, {6, 5, 1, 1}, {}, {1, 2, 0, 1}},
    {"3x3 same", {1, 3, 17, 19}, {8, 3, 3, 3}, {}, {1, 1, 1, 1}},
    {"3x3 valid", {2, 3, 6, 33}, {7, 3, 3, 3}},
    {"7x7 stride 2", {1, 3, 22, 23}, {9, 3, 7, 7}, {2, 2}, {3, 3, 3, 3}},
    {"everything differs by axis", {1, 2, 11, 14}, {5, 2, 3, 2}, {1, 2}, {2, 0, 1, 3}, {2, 1}},
    {"stride above the kernel", {1, 2, 13, 14}, {5, 2, 2, 3}, {3, 5}, {1, 2, 0, 4}},
    {"dilation and stride share a factor", {1, 2, 12, 31}, {3, 2, 2, 3}, {1, 4}, {0, 3, 0, 2}, {1, 2}},
    {"padding wider than the image", {1, 2, 2, 1}, {3, 2, 5, 4}, {}, {3, 2, 2, 3}},
    {"groups", {2, 6, 5, 8}, {10, 3, 3, 2}, {}, {1, 0, 0, 1}, {}, 2},
    {"pointwise groups", {2, 8, 9, 6}, {16, 4, 1, 1}, {}, {}, {}, 2},
    {"deep", {1, 70, 5, 6}, {20, 70, 3, 3}, {}, {1, 1, 1, 1}},
    {"1-D", {2, 4, 33}, {8, 4, 3}, {2}, {1, 2}, {3}},
    {"no image", {0, 4, 5, 5}, {2, 4, 3, 3}},
};

TEST(ConvCpu, DirectAndMatrixProductMatchTheOracle) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    const std::vector<Tensor> inputs = {smallIntegers(c.x, 1), smallIntegers(c.w, 2), smallIntegers({c.w[0]}, 3)};
    expectKernelMatchesOracle(builtinOps(), "Conv", paramsOf(c), inputs, 1);
    expectKernelMatchesOracle(builtinOps(), "Conv", paramsOf(c), {inputs[0], inputs[1]}, 1);
  }
}

const Case kDepthwiseCases[] = {
    {"3x3", {2, 6, 9, 40}, {6, 1, 3, 3}, {}, {1, 1, 1, 1}, {}, 6},
    {"3x3 stride 2", {1, 6, 15, 14}, {6, 1, 3, 3}, {2, 2}, {1, 1, 1, 1}, {}, 6},
    {"5x5", {1, 3, 14, 15}, {3, 1, 5, 5}, {}, {2, 2, 2, 2}, {}, 3},
    {"3x2, all differs by axis", {1, 4, 9, 17}, {4, 1, 3, 2}, {1, 3}, {2, 0, 1, 3}, {2, 5}, 4},
    {"two outputs per channel", {2, 3, 6, 5}, {6, 1, 3, 2}, {}, {1, 0, 1, 2}, {}, 3},
    {"1-D", {1, 5, 100}, {5, 1, 4}, {}, {}, {}, 5},
    {"one position", {1, 5, 1, 1}, {5, 1, 1, 1}, {}, {}, {}, 5},
};

TEST(ConvCpu, DepthwiseMatchesTheOracle) {
  for (const Case& c : kDepthwiseCases) {
    SCOPED_TRACE(c.name);
    const std::vector<Tensor> inputs = {smallIntegers(c.x, 1), smallIntegers(c.w, 2), smallIntegers({c.w[0]}, 3)};
    expectKernelMatchesOracle(builtinOps(), "Conv", paramsOf(c), inputs, 0);
    expectKernelMatchesOracle(builtinOps(), "Conv", paramsOf(c), {inputs[0], inputs[1]}, 0);
  }
}

TEST(ConvCpu, OneExecutionAtManyShapes) {
  for (const int64_t group : {1, 6}) {
    const Case c{"", {}, {12, 6 / group, 3, 3}, {2, 1}, {1, 2, 2, 1}, {}, group};
    const Tensor w = smallIntegers(c.w, 2);
    KernelRunner fast(builtinOps(), "cpu", 2);
    KernelRunner reference(builtinOps(), "reference");
    const Shape shapes[] = {{1, 6, 9, 7}, {2, 6, 20, 33}, {1, 6, 1, 2}, {0, 6, 5, 5}, {1, 6, 9, 7}, {2, 6, 20, 33}};
    for (size_t i = 0; i < std::size(shapes); ++i) {
      const std::vector<Tensor> inputs = {smallIntegers(shapes[i], 1), w};
      if (i == 0) {
        fast.create("Conv", paramsOf(c), inputs, {false, true});
        reference.create("Conv", paramsOf(c), inputs);
      }
      EXPECT_EQ(fast.run(inputs), reference.run(inputs)) << toString(shapes[i]);
    }
  }
}

TEST(ConvCpu, RefusalsNameTheReason) {
  KernelRunner runner(builtinOps(), "cpu");
  if (builtinOps().providers("Conv").contains("onednn")) {
    ASSERT_TRUE(runner.policy.add(ProviderRule::Kind::Forbid, "onednn").isOk());
  }
  const Case c{"", {1, 2, 4, 5, 6}, {3, 2, 2, 3, 2}};
  runner.create("Conv", paramsOf(c), {smallIntegers(c.x, 1), smallIntegers(c.w, 2)});
  EXPECT_EQ(runner.choice().creator->kernel, "gemm");
  ASSERT_GE(runner.choice().refusals.size(), 1u);  // oneDNN is forbidden
  EXPECT_EQ(runner.choice().refusals[0].reason, "Conv: depthwise needs one group per channel, got 1 of 2");

  const Tensor half = *Tensor::onHost({DType::Float16, {1, 2, 4, 4}});
  runner.create("Conv", {}, {half, half});
  EXPECT_EQ(runner.choice().refusals[0].reason, "Conv: the opkit kernel takes f32, got f16");
}

}  // namespace
}  // namespace opkit::ops::conv
