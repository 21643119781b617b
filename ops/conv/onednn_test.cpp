// The kernels of provider "onednn" against the oracle, on data whose sums are exact: bit for bit.
#include "engine/backend/kernel_test_support.h"
#include "ops/builtin_ops.h"
#include "ops/conv/conv_generated.h"
#include "ops/gemm/gemm_generated.h"
#include "ops/pool/pool_generated.h"

namespace opkit::ops {
namespace {

using testing::KernelRunner;
using testing::smallIntegers;

class Onednn : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!builtinOps().providers("MatMul").contains("onednn")) GTEST_SKIP() << "this build has no oneDNN";
  }
  /// Runs at two shapes and back, on one thread and on two.
  static void expectMatch(const std::string& type, const ParamBytes& params,
                          const std::vector<std::vector<Tensor>>& inputSets) {
    for (const size_t threads : {1, 2}) {
      KernelRunner reference(builtinOps(), "reference"), fast(builtinOps(), "cpu", threads);
      ASSERT_TRUE(fast.policy.add(ProviderRule::Kind::Force, type + "=onednn").isOk());
      reference.create(type, params, inputSets[0]);
      fast.create(type, params, inputSets[0]);
      ASSERT_EQ(fast.choice().creator->provider, "onednn");
      for (const auto& inputs : inputSets) EXPECT_EQ(fast.run(inputs), reference.run(inputs)) << threads << " threads";
      EXPECT_EQ(fast.run(inputSets[0]), reference.run(inputSets[0])) << "back again";
    }
  }
};

TEST_F(Onednn, MatMulIsExact) {
  expectMatch("MatMul", {},
              {{smallIntegers({2, 5, 7}, 1), smallIntegers({2, 7, 9}, 2)},
               {smallIntegers({3, 4, 6}, 3), smallIntegers({1, 6, 17}, 4)}});
}

TEST_F(Onednn, GemmIsExact) {
  gemm::GemmParamsT params;
  params.trans_b = true;
  expectMatch("Gemm", packParams(params),
              {{smallIntegers({5, 8}, 1), smallIntegers({9, 8}, 2), smallIntegers({9}, 3)},
               {smallIntegers({4, 3}, 4), smallIntegers({7, 3}, 5), smallIntegers({7}, 6)}});
}

TEST_F(Onednn, ConvIsExact) {
  conv::ConvParamsT params;
  params.strides = {2, 1};
  params.pads = {1, 0, 0, 2};
  params.dilations = {1, 2};
  params.group = 2;
  expectMatch("Conv", packParams(params),
              {{smallIntegers({2, 4, 9, 11}, 1), smallIntegers({6, 2, 3, 2}, 2), smallIntegers({6}, 3)},
               {smallIntegers({1, 4, 6, 5}, 4), smallIntegers({6, 2, 3, 2}, 5), smallIntegers({6}, 6)}});
}

TEST_F(Onednn, AveragesOfFourAreExact) {
  pool::PoolParamsT params;
  params.kernel_shape = {2, 2};
  params.strides = {2, 2};
  expectMatch("AveragePool", packParams(params), {{smallIntegers({2, 3, 8, 6}, 1)}, {smallIntegers({1, 3, 4, 4}, 2)}});
}

TEST_F(Onednn, LargestOfWindowsAreExact) {
  pool::PoolParamsT params;
  params.kernel_shape = {3, 2};
  params.strides = {2, 1};
  params.pads = {1, 0, 1, 1};
  expectMatch("MaxPool", packParams(params), {{smallIntegers({2, 3, 7, 6}, 1)}, {smallIntegers({1, 3, 5, 4}, 2)}});
}

/// Rows of equal elements: every probability is a power of two.
TEST_F(Onednn, UniformRowsAreExact) {
  const auto equal = [](const Shape& shape) {
    Tensor tensor = *Tensor::onHost({DType::Float32, shape});
    for (float& value : tensor.data<float>()) value = 3;
    return tensor;
  };
  expectMatch("Softmax", {}, {{equal({5, 8})}, {equal({3, 16})}});
}

/// None of them is chosen unless requested.
TEST_F(Onednn, StandsBehindOurKernels) {
  for (const char* type : {"Softmax", "LayerNormalization", "MaxPool", "AveragePool", "MatMul", "Gemm", "Conv"}) {
    const auto creators = builtinOps().creators("cpu", type);
    const auto ours = std::ranges::find(creators, "opkit", &Creator::provider);
    const auto theirs = std::ranges::find(creators, "onednn", &Creator::provider);
    ASSERT_NE(theirs, creators.end()) << type;
    EXPECT_LT(ours - creators.begin(), theirs - creators.begin()) << type;
  }
}

}  // namespace
}  // namespace opkit::ops
