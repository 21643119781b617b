// Networks of values that are known at a resize: small ones are computed there, large ones by the backend's kernels.
#include <gtest/gtest.h>

#include "engine/runtime/session.h"
#include "engine/testing/test_backends.h"
#include "ops/builtin_ops.h"
#include "ops/cast/cast_generated.h"

namespace opkit::ops::shape {
namespace {

constexpr int64_t kWidth = 64;

Tensor numbers(const Shape& shape, const std::vector<int64_t>& values) {
  return *Tensor::fromValues<int64_t>({DType::Int64, shape}, values);
}

/// Positions 0 to n of x f32[n] as a column, times ones [1, 64], times a matrix [64, 64] that divides by 64, twice.
Model positionsModel() {
  Model model;
  const TensorId x = model.addInput("x", {DType::Float32, {kDynamic}});
  const TensorId length = model.addNode("Squeeze", "length", {model.addNode("Shape", "shape", {x})[0]})[0];
  const TensorId zero = model.addConstant("zero", numbers({}, {0})), one = model.addConstant("one", numbers({}, {1}));
  const TensorId range = model.addNode("Range", "range", {zero, length, one})[0];
  const TensorId real = model.addNode("Cast", "real", {range}, packParams(cast::CastParamsT()))[0];
  const TensorId column = model.addConstant("column", numbers({2}, {-1, 1}));
  TensorId y = model.addNode("Reshape", "rows", {real, column})[0];
  const std::vector<float> ones(kWidth, 1.0f), mean(kWidth * kWidth, 1.0f / kWidth);
  const TensorId row = model.addConstant("row", *Tensor::fromValues<float>({DType::Float32, {1, kWidth}}, ones));
  const TensorId square =
      model.addConstant("square", *Tensor::fromValues<float>({DType::Float32, {kWidth, kWidth}}, mean));
  y = model.addNode("MatMul", "outer", {y, row})[0];
  y = model.addNode("MatMul", "first", {y, square})[0];
  y = model.addNode("MatMul", "second", {y, square})[0];
  model.outputs = {y, model.addNode("Relu", "relu", {x})[0]};
  return model;
}

TEST(KnownValues, LargeProductsOfPositionsRunOnTheBackend) {
  for (const std::string& backend : testBackends()) {
    auto session = *(*Interpreter::create(positionsModel(), builtinOps()))->createSession({.backend = backend});
    for (const int64_t n : {8, 2000, 8, 1500}) {
      ASSERT_TRUE(session->resizeInput("x", {n}).isOk());
      session->fillInput("x");
      const Status status = session->run();
      ASSERT_TRUE(status.isOk()) << status.toString();
      const Tensor& y = session->outputs()[0];
      ASSERT_EQ(y.desc.shape, (Shape{n, kWidth}));
      for (const int64_t i : {int64_t{0}, n / 2, n - 1})
        EXPECT_FLOAT_EQ(y.data<float>()[static_cast<size_t>(i * kWidth + 5)], static_cast<float>(i)) << backend;
      size_t products = 0;
      for (const Placement& row : session->placement()) {
        if (row.type != "MatMul") continue;
        EXPECT_EQ(row.backend, backend) << row.node;
        EXPECT_EQ(row.provider, "opkit") << row.node;
        ++products;
      }
      EXPECT_EQ(products, n > 100 && backend != "reference" ? 2u : 0u) << backend << ", " << n;
    }
  }
}

// Without a fallback a backend without such a kernel must not be asked.
TEST(KnownValues, AreFoldedWhereABackendHasNoKernel) {
  Model model;
  const TensorId x = model.addInput("x", {DType::Float32, {kDynamic}});
  const TensorId shape = model.addNode("Shape", "shape", {x})[0];
  const TensorId half = model.addConstant("half", *Tensor::fromValues<double>({DType::Float64, {1}}, {0.5}));
  const TensorId wide = model.addNode("Expand", "wide", {half, shape})[0];
  const TensorId sine = model.addNode("Sin", "sine", {wide})[0];
  const TensorId real = model.addNode("Cast", "real", {sine}, packParams(cast::CastParamsT()))[0];
  model.outputs = model.addNode("Add", "sum", {real, x});
  for (const std::string& backend : testBackends()) {
    auto session =
        *(*Interpreter::create(model, builtinOps()))->createSession({.backend = backend, .allowFallback = false});
    for (const int64_t n : {5, 1'000'000}) {
      ASSERT_TRUE(session->resizeInput("x", {n}).isOk());
      std::ranges::fill(session->fillInput("x")->data<float>(), 1.0f);
      const Status status = session->run();
      ASSERT_TRUE(status.isOk()) << backend << ": " << status.toString();
      EXPECT_FLOAT_EQ(session->outputs()[0].data<float>()[static_cast<size_t>(n - 1)], 1.47942554f);
    }
  }
}

}  // namespace
}  // namespace opkit::ops::shape
