// Unpooling what was pooled: the indices are found by pooling here, windows that hang over the end included, so the
// expected tensor is the input with all but the largest elements of the windows cleared.
#include <gtest/gtest.h>

#include "engine/backend/device_test_support.h"
#include "engine/runtime/session.h"
#include "engine/testing/test_backends.h"
#include "ops/builtin_ops.h"
#include "ops/max_unpool/max_unpool_generated.h"

namespace opkit::ops::max_unpool {
namespace {

struct Pooled {
  Shape shape;                   // of the values
  std::vector<float> values;     // the largest element of each window
  std::vector<int64_t> indices;  // where it lies among all elements
  std::vector<float> kept;       // the tensor that was pooled, without all others
};

/// Position of digit d of `number`, counted in `extents`.
int64_t digitOf(int64_t number, const Shape& extents, size_t d) {
  for (size_t k = extents.size() - 1; k > d; --k) number /= extents[k];
  return number % extents[d];
}

/// Pools a tensor whose elements all differ, by windows of extent `kernel` every `kernel` elements. Windows at the end
/// may be cut, or left out.
Pooled pool(const Shape& whole, int64_t kernel, bool cut) {
  Pooled pooled{whole, {}, {}, {}};
  for (size_t d = 2; d < whole.size(); ++d) pooled.shape[d] = (whole[d] + (cut ? kernel - 1 : 0)) / kernel;
  const int64_t elements = elementCount(whole);
  pooled.values.assign(static_cast<size_t>(elementCount(pooled.shape)), 0);
  pooled.indices.assign(pooled.values.size(), 0);
  pooled.kept.assign(static_cast<size_t>(elements), 0);
  for (int64_t i = 0; i < elements; ++i) {
    const auto value = static_cast<float>(1 + i * 7919 % 104729);  // both prime: all values differ
    int64_t window = 0;
    bool inside = true;
    for (size_t d = 0; d < whole.size(); ++d) {
      const int64_t at = digitOf(i, whole, d) / (d < 2 ? 1 : kernel);
      inside = inside && at < pooled.shape[d];
      window = window * pooled.shape[d] + at;
    }
    if (!inside || pooled.values[static_cast<size_t>(window)] >= value) continue;
    pooled.values[static_cast<size_t>(window)] = value;
    pooled.indices[static_cast<size_t>(window)] = i;
  }
  for (size_t w = 0; w < pooled.values.size(); ++w)
    pooled.kept[static_cast<size_t>(pooled.indices[w])] = pooled.values[w];
  return pooled;
}

void expectPartialInverse(const std::string& backend, const Shape& whole, int64_t kernel, bool cut) {
  const Pooled pooled = pool(whole, kernel, cut);
  MaxUnpoolParamsT params;
  params.kernel_shape.assign(whole.size() - 2, kernel);
  params.strides = params.kernel_shape;
  Model model;
  const TensorId x = model.addInput("x", {DType::Float32, pooled.shape});
  const TensorId indices = model.addInput("indices", {DType::Int64, pooled.shape});
  const auto rank = static_cast<int64_t>(whole.size());
  const TensorId extents =
      model.addConstant("extents", *Tensor::fromValues<int64_t>({DType::Int64, {rank}}, whole.toVector()));
  model.outputs = model.addNode("MaxUnpool", "node", {x, indices, extents}, packParams(params));
  const auto interpreter = Interpreter::create(std::move(model), builtinOps());
  ASSERT_TRUE(interpreter) << interpreter.error().toString();
  const auto session = (*interpreter)->createSession({.backend = backend, .threads = 1});
  if (!session && backend == "vulkan" && !devicesArePromised()) return;
  ASSERT_TRUE(session) << session.error().toString();
  std::ranges::copy(pooled.values, (*session)->fillInput("x")->data<float>().begin());
  std::ranges::copy(pooled.indices, (*session)->fillInput("indices")->data<int64_t>().begin());
  const Status ran = (*session)->run();
  ASSERT_TRUE(ran.isOk()) << ran.toString();
  const Tensor& y = (*session)->outputs()[0];
  EXPECT_EQ(y.desc.shape, whole);
  EXPECT_TRUE(std::ranges::equal(y.data<float>(), pooled.kept))
      << backend << ", " << toString(whole) << ", windows of " << kernel << (cut ? ", cut" : "");
}

TEST(MaxUnpool, PutsElementsWhereMaxPoolFoundThem) {
  const std::vector<Shape> shapes = {{1, 1, 5},    {2, 3, 7},    {1, 2, 4},       {1, 1, 5, 5},   {2, 2, 7, 4},
                                     {1, 3, 6, 9}, {3, 1, 3, 3}, {1, 2, 5, 3, 7}, {2, 1, 4, 5, 6}};
  for (const std::string& backend : testBackends())
    for (const Shape& whole : shapes)
      for (const int64_t kernel : {2, 3})
        for (const bool cut : {false, true}) expectPartialInverse(backend, whole, kernel, cut);
}

}  // namespace
}  // namespace opkit::ops::max_unpool
