// The positions that Slice takes, at the ends of ranges and of int64, against the clamping that ONNX's text states. The
// oracle is under test like the kernels.
#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "engine/backend/device_test_support.h"
#include "engine/runtime/session.h"
#include "engine/testing/test_backends.h"
#include "ops/builtin_ops.h"

namespace opkit::ops::slice {
namespace {

using Wide = __int128;  // nothing here overflows

/// For positive steps ONNX clamps starts and ends to [0, extent]; for negative ones starts to [0, extent - 1] and ends
/// to
/// [-1, extent - 1].
std::vector<float> expectedOf(Wide start, Wide end, Wide step, Wide extent) {
  const auto clamped = [&](Wide at, Wide low, Wide high) {
    if (at < 0) at += extent;
    return std::min(std::max(at, low), high);
  };
  std::vector<float> taken;
  if (extent == 0) return taken;
  const Wide high = step > 0 ? extent : extent - 1;
  const Wide stop = clamped(end, step > 0 ? 0 : -1, high);
  for (Wide at = clamped(start, 0, high); step > 0 ? at < stop : at > stop; at += step)
    taken.push_back(static_cast<float>(at));
  return taken;
}

class SliceLimits : public ::testing::TestWithParam<std::string> {
 protected:
  /// One model with a Slice for each range of 0, 1, ... extent - 1.
  void expectAll(int64_t extent, const std::set<int64_t>& limits, const std::vector<int64_t>& steps) {
    Model model;
    std::vector<std::vector<float>> expected;
    const TensorId x = model.addInput("x", {DType::Float32, {extent}});
    const auto list = [&](const char* what, int64_t value) {
      const std::string name = fmt::format("{}{}", what, expected.size());
      return model.addConstant(name, *Tensor::fromValues<int64_t>({DType::Int64, {1}}, {value}));
    };
    const TensorId axes = list("axes", 0);
    for (const int64_t start : limits)
      for (const int64_t end : limits)
        for (const int64_t step : steps) {
          const std::vector<TensorId> inputs = {x, list("start", start), list("end", end), axes, list("step", step)};
          const std::string name = fmt::format("{}:{}:{} of {}", start, end, step, extent);
          model.outputs.push_back(model.addNode("Slice", name, inputs)[0]);
          names_.push_back(name);
          expected.push_back(expectedOf(start, end, step, extent));
        }
    compare(std::move(model), extent, expected);
  }

 private:
  void compare(Model model, int64_t extent, const std::vector<std::vector<float>>& expected) {
    const auto interpreter = Interpreter::create(std::move(model), builtinOps());
    ASSERT_TRUE(interpreter) << interpreter.error().toString();
    const auto session = (*interpreter)->createSession({.backend = GetParam(), .threads = 1});
    if (!session && GetParam() == "vulkan" && !devicesArePromised()) return;
    ASSERT_TRUE(session) << session.error().toString();
    for (int64_t i = 0; i < extent; ++i)
      (*session)->fillInput("x")->data<float>()[static_cast<size_t>(i)] = static_cast<float>(i);
    const Status ran = (*session)->run();
    ASSERT_TRUE(ran.isOk()) << ran.toString();
    for (size_t k = 0; k < expected.size(); ++k)
      EXPECT_TRUE(std::ranges::equal((*session)->outputs()[k].data<float>(), expected[k])) << names_[k];
    names_.clear();
  }

  std::vector<std::string> names_;
};

TEST_P(SliceLimits, AreThoseOfTheText) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(), kMost = std::numeric_limits<int64_t>::max();
  for (const int64_t extent : {0, 1, 4})
    expectAll(extent, {kLeast, -extent - 2, -extent - 1, -extent, -1, 0, extent - 1, extent, extent + 1, kMost},
              {1, 2, -1, -2, kMost, kLeast});
}

INSTANTIATE_TEST_SUITE_P(Backends, SliceLimits, ::testing::ValuesIn(testBackends()),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace opkit::ops::slice
