#include <gtest/gtest.h>

#include "engine/backend/cpu/gemm/gemm.h"
#include "engine/runtime/session.h"
#include "ops/builtin_ops.h"
#include "ops/recurrent/recurrent.h"

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

/// Weights by their number, from -100 to 100 steps of either direction.
Tensor dequantised(const Shape& shape) {
  Tensor r = *Tensor::onHost({DType::Float32, shape});
  const std::span<float> values = r.data<float>();
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(static_cast<int>(i * 37 % 201) - 100) * (i < values.size() / 2 ? 0.0044f : 0.0067f);
  return r;
}

/// y of a bidirectional layer and the bytes of its constants, whose r is a constant or an input.
std::pair<std::vector<float>, size_t> layerWith(const Tensor& r, int64_t batch, bool isConstant) {
  constexpr int64_t kHidden = 33, kTimes = 4;
  Model model;
  Tensor products = *Tensor::onHost({DType::Float32, {kTimes, batch, 8 * kHidden}});
  for (size_t i = 0; i < products.data<float>().size(); ++i)
    products.data<float>()[i] = 0.01f * static_cast<float>(i * 31 % 97) - 0.5f;
  const TensorId x = model.addInput("x", products.desc);
  const TensorId weights = isConstant ? model.addConstant("r", r) : model.addInput("r", r.desc);
  RecurrentParamsT params;
  params.direction = Direction::Bidirectional;
  model.outputs = {model.addNode("LSTMSteps", "y", {x, weights}, packParams(params))[0]};
  const auto interpreter = *Interpreter::create(std::move(model), builtinOps());
  const auto session = *interpreter->createSession({});
  std::ranges::copy(products.data<float>(), session->fillInput("x")->data<float>().begin());
  if (!isConstant) std::ranges::copy(r.data<float>(), session->fillInput("r")->data<float>().begin());
  EXPECT_TRUE(session->run().isOk());
  const std::span<const float> y = session->output("y")->data<float>();
  return {{y.begin(), y.end()}, session->statistics().memory[0].constantBytes};
}

/// A constant r that was 8-bit integers is kept as such. No bit of the result differs.
TEST(RecurrentCpu, KeepsDequantisedWeightsAsBytes) {
  const Tensor r = dequantised({2, 4 * 33, 33});
  Tensor other = dequantised({2, 4 * 33, 33});
  other.data<float>()[7] += 0.001f;
  for (const int64_t batch : {1, 3, 6}) {
    const auto [y, bytes] = layerWith(r, batch, true);
    EXPECT_EQ(y, layerWith(r, batch, false).first) << batch;
    const auto [otherY, otherBytes] = layerWith(other, batch, true);
    EXPECT_EQ(otherY, layerWith(other, batch, false).first) << batch;
    EXPECT_EQ(bytes, otherBytes / 4) << batch;
  }
}

}  // namespace
}  // namespace opkit::ops::recurrent
