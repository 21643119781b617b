// Expand with an absurd constant shape.
#include <gtest/gtest.h>

#include "engine/graph/encoder.h"
#include "engine/runtime/session.h"
#include "ops/builtin_ops.h"

namespace opkit::ops {
namespace {

/// Resizes a session of Expand(constant [1], constant {elements}).
Status resizeTo(int64_t elements) {
  Model model;
  Tensor one = *Tensor::onHost({DType::Float32, {1}});
  Tensor shape = *Tensor::onHost({DType::Int64, {1}});
  shape.data<int64_t>()[0] = elements;
  const TensorId x = model.addConstant("one", std::move(one));
  const TensorId to = model.addConstant("shape", std::move(shape));
  model.outputs = {model.addNode("Expand", "wide", {x, to})[0]};
  const auto interpreter = Interpreter::create(std::move(model), builtinOps());
  if (!interpreter) return interpreter.error();
  const auto session = (*interpreter)->createSession({.backend = "cpu"});
  return session ? (*session)->resize() : session.error();
}

TEST(Expand, ConstantsAreFoldedToAGigabyteAtMost) {
  EXPECT_TRUE(resizeTo(1 << 20).isOk());
  const Status status = resizeTo(static_cast<int64_t>(kMostFoldedBytes / sizeof(float)) + 1);
  EXPECT_EQ(status.code(), StatusCode::OutOfMemory);
  EXPECT_NE(status.message().find("wide"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace opkit::ops
