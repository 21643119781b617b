#include "engine/backend/kernel_test_support.h"
#include "ops/builtin_ops.h"

namespace opkit::ops::matmul {
namespace {

using opkit::testing::expectKernelMatchesOracle;
using opkit::testing::KernelRunner;
using opkit::testing::smallIntegers;

struct Case {
  Shape a, b;
};
const Case kCases[] = {
    {{5, 7}, {7, 9}},
    {{1, 300}, {300, 50}},
    {{50, 1}, {1, 50}},
    {{7}, {7, 9}},
    {{5, 7}, {7}},
    {{7}, {7}},
    {{4, 5, 7}, {7, 9}},             // one tall product
    {{4, 5, 17}, {4, 17, 9}},        // a batch
    {{5, 17}, {4, 17, 9}},           // repeats a
    {{3, 1, 5, 17}, {1, 4, 17, 9}},  // repeats both
    {{1, 5, 17}, {3, 2, 17, 9}},     // repeats a over two axes
    {{2, 3, 33, 64}, {2, 3, 64, 35}},
    {{3, 5, 7}, {1, 7, 9}},
    {{3, 5, 7}, {7}},
    {{0, 5, 7}, {7, 9}},
    {{5, 0}, {0, 9}},  // zeros
    {{3, 5, 0}, {0, 9}},
    {{2, 0, 7}, {2, 7, 9}},
};

TEST(MatMulCpu, MatchesTheOracle) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(toString(c.a) + " x " + toString(c.b));
    expectKernelMatchesOracle(builtinOps(), "MatMul", {}, {smallIntegers(c.a, 1), smallIntegers(c.b, 2)}, 1);
  }
}

TEST(MatMulCpu, OneExecutionAtManyShapes) {
  const Tensor b = smallIntegers({24, 40}, 2);
  KernelRunner fast(builtinOps(), "cpu", 2);
  KernelRunner reference(builtinOps(), "reference");
  const Shape shapes[] = {{3, 24}, {2, 70, 24}, {24}, {0, 24}, {3, 24}};
  for (const Shape& shape : shapes) {
    const std::vector<Tensor> inputs = {smallIntegers(shape, 1), b};
    if (&shape == &shapes[0]) {
      fast.create("MatMul", {}, inputs, {false, true});
      reference.create("MatMul", {}, inputs);
    }
    EXPECT_EQ(fast.run(inputs), reference.run(inputs)) << toString(shape);
  }
}

TEST(MatMulCpu, BatchesOfSmallProductsAreLoops) {
  const auto providerOf = [](const Shape& a, const Shape& b, const std::string& forced = "") {
    const std::vector<Tensor> inputs = {smallIntegers(a, 1), smallIntegers(b, 2)};
    KernelRunner fast(builtinOps(), "cpu", 2), reference(builtinOps(), "reference");
    if (!forced.empty()) {
      EXPECT_TRUE(fast.policy.add(ProviderRule::Kind::Force, forced).isOk());
    }
    fast.create("MatMul", {}, inputs);
    reference.create("MatMul", {}, inputs);
    EXPECT_EQ(fast.run(inputs), reference.run(inputs)) << toString(a) << toString(b);
    return fast.choice().creator->provider;
  };
  EXPECT_EQ(providerOf({9, 8, 8}, {9, 8, 8}), "loop");
  EXPECT_EQ(providerOf({9, 8, 8}, {9, 8, 8}, "opkit"), "opkit");
  EXPECT_EQ(providerOf({9, 8, 9}, {9, 9, 8}), "opkit");
  EXPECT_EQ(providerOf({9, 8, 9}, {9, 9, 8}, "loop"), "loop");
  EXPECT_EQ(providerOf({9, 1, 200}, {9, 200, 1}), "loop");
  EXPECT_EQ(providerOf({9, 1, 300}, {9, 300, 1}), "opkit");
  EXPECT_EQ(providerOf({9, 3, 3}, {3, 3}), "opkit");  // one tall product
}

TEST(MatMulCpu, IntegersAreLoops) {
  const Tensor a = *Tensor::onHost({DType::Int32, {2, 2}});
  KernelRunner runner(builtinOps(), "cpu");
  runner.create("MatMul", {}, {a, a});
  EXPECT_EQ(runner.choice().creator->provider, "loop");
  ASSERT_GE(runner.choice().refusals.size(), 2u);
  EXPECT_EQ(runner.choice().refusals[1].reason, "MatMul: the opkit kernel takes f32, got i32");
}

}  // namespace
}  // namespace opkit::ops::matmul
