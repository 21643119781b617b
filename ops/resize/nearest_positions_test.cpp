// The element that nearest resizing takes, for many extents and all modes, against ONNX Runtime's formulas: each step
// in float, the scale of sizes too. The oracle is under test like the kernels.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "engine/backend/device_test_support.h"
#include "engine/runtime/session.h"
#include "engine/testing/test_backends.h"
#include "ops/builtin_ops.h"
#include "ops/resize/resize.h"

namespace opkit::ops::resize {
namespace {

constexpr CoordinateMode kModes[] = {CoordinateMode::HalfPixel,        CoordinateMode::HalfPixelSymmetric,
                                     CoordinateMode::PytorchHalfPixel, CoordinateMode::AlignCorners,
                                     CoordinateMode::Asymmetric,       CoordinateMode::TfHalfPixelForNn};
constexpr NearestMode kRoundings[] = {NearestMode::RoundPreferFloor, NearestMode::RoundPreferCeil, NearestMode::Floor,
                                      NearestMode::Ceil, NearestMode::FloorUpCeilDown};

/// A row of `inputs` elements resized to `outputs`, by a scale or else by sizes.
struct Row {
  int64_t inputs = 1, outputs = 1;
  float scale = 0;
};

float placeOf(CoordinateMode mode, const Row& row, float o) {
  const auto n = static_cast<float>(row.inputs), m = static_cast<float>(row.outputs);
  const float scale = row.scale > 0 ? row.scale : m / n;
  switch (mode) {
    case CoordinateMode::Asymmetric: return o / scale;
    case CoordinateMode::TfHalfPixelForNn: return (o + 0.5f) / scale;
    case CoordinateMode::AlignCorners: return row.outputs == 1 ? 0 : o * (n - 1) / (m - 1);
    case CoordinateMode::PytorchHalfPixel:
      if (row.outputs == 1) return 0;
      break;
    case CoordinateMode::HalfPixelSymmetric: {
      const float offset = n / 2 * (1 - m / (scale * n));
      return offset + (o + 0.5f) / scale - 0.5f;
    }
    default: break;
  }
  return (o + 0.5f) / scale - 0.5f;
}

float elementOf(NearestMode mode, const Row& row, float at) {
  const bool shrinks = (row.scale > 0 ? row.scale < 1 : row.outputs < row.inputs);
  float taken = 0;
  switch (mode) {
    case NearestMode::RoundPreferFloor: taken = at == std::trunc(at) + 0.5f ? std::floor(at) : std::round(at); break;
    case NearestMode::RoundPreferCeil: taken = std::round(at); break;
    case NearestMode::Floor: taken = std::floor(at); break;
    case NearestMode::Ceil: taken = std::ceil(at); break;
    case NearestMode::FloorUpCeilDown: taken = shrinks ? std::ceil(at) : std::floor(at); break;
  }
  return std::min(std::max(taken, 0.0f), static_cast<float>(row.inputs - 1));
}

class NearestPositions : public ::testing::TestWithParam<std::string> {
 protected:
  /// One model with a Resize for each row and pair of modes; the rows have one extent.
  void expectAll(const std::vector<Row>& rows) {
    names_.clear();
    Model model;
    const TensorId x = model.addInput("x", {DType::Float32, {rows[0].inputs}});
    std::vector<std::vector<float>> expected;
    for (const Row& row : rows) {
      std::vector<TensorId> inputs = {x, {}, {}, {}};
      const std::string name = fmt::format("{} to {} by {}", row.inputs, row.outputs, row.scale);
      if (row.scale > 0)
        inputs[2] = model.addConstant(name, *Tensor::fromValues<float>({DType::Float32, {1}}, {row.scale}));
      else
        inputs[3] = model.addConstant(name, *Tensor::fromValues<int64_t>({DType::Int64, {1}}, {row.outputs}));
      for (const CoordinateMode mode : kModes)
        for (const NearestMode rounding : kRoundings) {
          // By a scale, the text reaches the corner of n * s elements, ONNX Runtime that of its floor.
          if (row.scale > 0 && mode == CoordinateMode::AlignCorners) continue;
          ResizeParamsT params;
          params.mode = ResizeMode::Nearest;
          params.coordinate_mode = mode;
          params.nearest_mode = rounding;
          names_.push_back(
              fmt::format("{}, {}, {}", name, EnumNameCoordinateMode(mode), EnumNameNearestMode(rounding)));
          model.outputs.push_back(model.addNode("Resize", names_.back(), inputs, packParams(params))[0]);
          std::vector<float>& values = expected.emplace_back();
          for (int64_t o = 0; o < row.outputs; ++o)
            values.push_back(elementOf(rounding, row, placeOf(mode, row, static_cast<float>(o))));
        }
    }
    compare(std::move(model), rows[0].inputs, expected);
  }

 private:
  void compare(Model model, int64_t inputs, const std::vector<std::vector<float>>& expected) {
    const auto interpreter = Interpreter::create(std::move(model), builtinOps());
    ASSERT_TRUE(interpreter) << interpreter.error().toString();
    const auto session = (*interpreter)->createSession({.backend = GetParam(), .threads = 1});
    if (!session && GetParam() == "vulkan" && !devicesArePromised()) return;
    ASSERT_TRUE(session) << session.error().toString();
    for (int64_t i = 0; i < inputs; ++i)
      (*session)->fillInput("x")->data<float>()[static_cast<size_t>(i)] = static_cast<float>(i);
    const Status ran = (*session)->run();
    ASSERT_TRUE(ran.isOk()) << ran.toString();
    for (size_t i = 0; i < expected.size(); ++i) {
      const auto got = (*session)->outputs()[i].data<float>();
      EXPECT_EQ(std::vector<float>(got.begin(), got.end()), expected[i]) << GetParam() << ": " << names_[i];
    }
  }

  std::vector<std::string> names_;
};

TEST_P(NearestPositions, OfDrawnSizes) {
  std::minstd_rand random(7);
  const auto upTo = [&](int64_t most) { return 1 + static_cast<int64_t>(random() % static_cast<uint32_t>(most)); };
  for (const int64_t inputs : {int64_t{14}, upTo(30), upTo(30), upTo(100), upTo(300), upTo(300), int64_t{300}}) {
    std::vector<Row> rows;
    for (int i = 0; i < 6; ++i) rows.push_back({inputs, upTo(i < 3 ? 40 : 300)});
    if (inputs == 14) rows.push_back({14, 36});
    expectAll(rows);
  }
}

TEST_P(NearestPositions, OfWholeFactors) {
  for (int64_t inputs : {60, 97, 240}) {
    std::vector<Row> rows;
    for (int factor = 2; factor <= 20; ++factor) {
      const float scale = 1.0f / static_cast<float>(factor);
      rows.push_back({inputs, static_cast<int64_t>(std::floor(static_cast<float>(inputs) * scale)), scale});
    }
    expectAll(rows);
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, NearestPositions, ::testing::ValuesIn(testBackends()),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace opkit::ops::resize
