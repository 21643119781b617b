// Reductions of nothing, against the limits that the specification of ONNX names: a kernel that has the oracle's
// mistake passes `check`.
#include <gtest/gtest.h>

#include <limits>

#include "engine/backend/device_test_support.h"
#include "engine/runtime/session.h"
#include "engine/testing/test_backends.h"
#include "ops/builtin_ops.h"

namespace opkit::ops::reduce {
namespace {

/// Every byte of `type` over DTYPE[2,0,3] along axis 1, on every backend, is that of `expected`.
template <class T>
void expectOfNothing(const std::string& type, DType dtype, T expected) {
  Model model;
  const TensorId x = model.addInput("x", {dtype, {2, 0, 3}});
  const TensorId axes = model.addConstant("axes", *Tensor::fromValues<int64_t>({DType::Int64, {1}}, {1}));
  model.outputs = model.addNode(type, "node", {x, axes});
  for (const std::string& backend : testBackends()) {
    const auto interpreter = Interpreter::create(model, builtinOps());
    ASSERT_TRUE(interpreter) << interpreter.error().toString();
    const auto session = (*interpreter)->createSession({.backend = backend, .threads = 1});
    if (!session && backend == "vulkan" && !devicesArePromised()) continue;
    ASSERT_TRUE(session) << session.error().toString();
    const Status ran = (*session)->run();
    ASSERT_TRUE(ran.isOk()) << backend << ": " << ran.toString();
    const auto got = (*session)->outputs()[0].data<T>();
    ASSERT_EQ(got.size(), 6u);
    for (const T value : got) EXPECT_EQ(value, expected) << type << " of " << nameOf(dtype) << " on " << backend;
  }
}

template <class T>
void expectLimits(DType dtype) {
  expectOfNothing<T>("ReduceMax", dtype, std::numeric_limits<T>::lowest());
  expectOfNothing<T>("ReduceMin", dtype, std::numeric_limits<T>::max());
}

TEST(ReduceOfNothing, IsTheLimitOfAnIntegerType) {
  expectLimits<int8_t>(DType::Int8);
  expectLimits<uint8_t>(DType::UInt8);
  expectLimits<int16_t>(DType::Int16);
  expectLimits<uint16_t>(DType::UInt16);
  expectLimits<int32_t>(DType::Int32);
  expectLimits<uint32_t>(DType::UInt32);
  expectLimits<int64_t>(DType::Int64);
  expectLimits<uint64_t>(DType::UInt64);
}

TEST(ReduceOfNothing, IsFalseOrTrueOfBool) {
  expectOfNothing<uint8_t>("ReduceMax", DType::Bool, 0);
  expectOfNothing<uint8_t>("ReduceMin", DType::Bool, 1);
}

TEST(ReduceOfNothing, IsInfiniteOfAFloatType) {
  expectOfNothing<float>("ReduceMax", DType::Float32, -std::numeric_limits<float>::infinity());
  expectOfNothing<double>("ReduceMin", DType::Float64, std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace opkit::ops::reduce
