#include <gtest/gtest.h>

#include "engine/backend/cpu/gemm/gemm.h"
#include "engine/runtime/session.h"
#include "ops/builtin_ops.h"

namespace opkit::ops::recurrent {
namespace {

/// w reaches its Gemm with another shape, and is still a constant of the model: it is packed once, not in each run.
TEST(RecurrentCpu, PacksBothWeightsOfALayer) {
  constexpr int64_t kInputs = 6, kHidden = 32, kColumns = 4 * kHidden;
  Model model;
  const auto constant = [&](const char* name, const Shape& shape) {
    return model.addConstant(name, *Tensor::onHost({DType::Float32, shape}));
  };
  const TensorId x = model.addInput("x", {DType::Float32, {2, 1, kInputs}});
  const TensorId w = constant("w", {1, kColumns, kInputs}), r = constant("r", {1, kColumns, kHidden});
  model.outputs = {model.addNode("LSTM", "y", {x, w, r})[0]};
  const auto interpreter = Interpreter::create(std::move(model), builtinOps());
  ASSERT_TRUE(interpreter) << interpreter.error().toString();
  const auto session = (*interpreter)->createSession({});
  ASSERT_TRUE(session && (*session)->resize().isOk());
  const int64_t packedR = kColumns * kHidden, packedW = cpu::gemm::packedRightFloats(kInputs, kColumns);
  EXPECT_EQ((*session)->statistics().memory[0].constantBytes, static_cast<size_t>(packedR + packedW) * sizeof(float));
}

}  // namespace
}  // namespace opkit::ops::recurrent
