#include "engine/backend/kernel_test_support.h"
#include "ops/builtin_ops.h"
#include "ops/gemm/gemm.h"

namespace opkit::ops::gemm {
namespace {

using opkit::testing::expectKernelMatchesOracle;
using opkit::testing::KernelRunner;
using opkit::testing::smallIntegers;

constexpr int64_t kRows = 11;
constexpr int64_t kColumns = 35;

TEST(GemmCpu, MatchesTheOracleInEveryForm) {
  const std::vector<Shape> biases = {{}, {1}, {kColumns}, {1, kColumns}, {kRows, 1}, {kRows, kColumns}, {1, 1}};
  for (const bool transA : {false, true})
    for (const bool transB : {false, true})
      for (const int64_t depth : {0, 1, 30, 300})
        for (size_t bias = 0; bias <= biases.size(); ++bias) {
          GemmParamsT params;
          params.alpha = bias % 2 ? 2.0f : 1.0f;
          params.beta = bias % 3 ? -0.5f : 1.0f;
          params.trans_a = transA;
          params.trans_b = transB;
          std::vector<Tensor> inputs = {smallIntegers(transA ? Shape{depth, kRows} : Shape{kRows, depth}, 1),
                                        smallIntegers(transB ? Shape{kColumns, depth} : Shape{depth, kColumns}, 2)};
          if (bias < biases.size()) inputs.push_back(smallIntegers(biases[bias], 3));
          SCOPED_TRACE(fmt::format("transA {} transB {} depth {} bias {}", transA, transB, depth, bias));
          expectKernelMatchesOracle(builtinOps(), "Gemm", packParams(params), inputs, 0);
        }
}

/// gemm.cases.json has the results.
TEST(GemmCpu, ComputesHalfInFloat) {
  const Tensor a = *Tensor::onHost({DType::Float16, {2, 2}});
  KernelRunner runner(builtinOps(), "cpu");
  runner.create("Gemm", {}, {a, a});
  EXPECT_EQ(runner.choice().creator->provider, "opkit");
}

}  // namespace
}  // namespace opkit::ops::gemm
