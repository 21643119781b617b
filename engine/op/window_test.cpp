#include "engine/op/window.h"

#include <gtest/gtest.h>

namespace opkit {
namespace {

WindowAxis plan(const WindowSpec& spec, int64_t input) {
  auto axes = planWindow(spec, {input});
  EXPECT_TRUE(axes) << axes.error().message();
  return axes ? axes->front() : WindowAxis{};
}

TEST(Window, SamePutsTheOddElementAtTheNamedEnd) {
  const WindowAxis upper = plan({.kernel = {3}, .strides = {2}, .autoPad = AutoPad::SameUpper}, 6);
  EXPECT_EQ(upper.output, 3);
  EXPECT_EQ(upper.padBegin, 0);
  EXPECT_EQ(upper.padEnd, 1);
  const WindowAxis lower = plan({.kernel = {3}, .strides = {2}, .autoPad = AutoPad::SameLower}, 6);
  EXPECT_EQ(lower.padBegin, 1);
  EXPECT_EQ(lower.padEnd, 0);
}

TEST(Window, CeilModeDropsAWindowThatStartsInTheEndPadding) {
  EXPECT_EQ(plan({.kernel = {2}, .strides = {2}, .ceilMode = true}, 5).output, 3);
  // Without the rule there would be 4: the last would start at 6 = input + padBegin.
  EXPECT_EQ(plan({.kernel = {3}, .strides = {2}, .pads = {1, 3}, .ceilMode = true}, 5).output, 3);
  EXPECT_EQ(plan({.kernel = {2}, .strides = {2}}, 5).output, 2);
}

TEST(Window, TapsAndOutputsAgreeOnWhatLiesInside) {
  for (const int64_t dilation : {1, 2, 3})
    for (const int64_t stride : {1, 2, 3}) {
      const WindowAxis axis = plan({.kernel = {3}, .strides = {stride}, .pads = {2, 3}, .dilations = {dilation}}, 7);
      for (int64_t o = 0; o < axis.output; ++o)
        for (int64_t k = 0; k < axis.kernel; ++k) {
          const bool inside = axis.position(o, k) >= 0 && axis.position(o, k) < axis.input;
          const TapRange taps = axis.tapsInside(o), outputs = axis.outputsInside(k);
          EXPECT_EQ(inside, k >= taps.begin && k < taps.end) << o << ' ' << k;
          EXPECT_EQ(inside, o >= outputs.begin && o < outputs.end) << o << ' ' << k;
        }
    }
}

TEST(Window, BadSpecificationsSayWhatWasExpected) {
  const auto message = [](const WindowSpec& spec, const Shape& input) {
    return planWindow(spec, input).error().message();
  };
  EXPECT_EQ(message({.kernel = {3}}, {5, 5}), "kernel_shape must have 2 values, got 1");
  EXPECT_EQ(message({.kernel = {3}, .pads = {1}}, {5}), "pads must have 2 values, got 1");
  EXPECT_EQ(message({.kernel = {3}, .strides = {0}}, {5}), "strides must be in [1, 2147483648), got 0");
  EXPECT_EQ(message({.kernel = {3}, .dilations = {3}}, {5}),
            "spatial axis 0: the kernel covers 7 elements, but the padded input has 5");
  EXPECT_EQ(parseAutoPad("SAME").error().message(),
            "auto_pad must be NOTSET, SAME_UPPER, SAME_LOWER or VALID, got 'SAME'");
}

}  // namespace
}  // namespace opkit
