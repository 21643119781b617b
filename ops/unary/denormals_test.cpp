// Denormal values make every product that reads them slow, so the CPU kernels return none for small exponentials.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/runtime/session.h"
#include "ops/builtin_ops.h"

namespace opkit::ops::unary_denormals {
namespace {

TEST(UnaryDenormals, ExponentialsBelowTheNormalRangeAreZero) {
  for (const char* type : {"Exp", "Sigmoid"}) {
    Model model;
    const TensorId x = model.addInput("x", {DType::Float32, {4001}});
    model.outputs = model.addNode(type, "node", {x});
    const auto interpreter = *Interpreter::create(std::move(model), builtinOps());
    const auto session = *interpreter->createSession({.threads = 1});
    const std::span<float> values = session->fillInput("x")->data<float>();
    for (size_t i = 0; i < values.size(); ++i) values[i] = -110.0f + 0.01f * static_cast<float>(i);  // to -70
    ASSERT_TRUE(session->run().isOk());
    const std::span<float> results = session->outputs()[0].data<float>();
    EXPECT_EQ(results.front(), 0.0f) << type;
    EXPECT_NEAR(results.back() / std::exp(-70.0), 1.0, 1e-5) << type;
    for (size_t i = 0; i < results.size(); ++i)
      ASSERT_NE(std::fpclassify(results[i]), FP_SUBNORMAL) << type << "(" << values[i] << ") = " << results[i];
  }
}

}  // namespace
}  // namespace opkit::ops::unary_denormals
