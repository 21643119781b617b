// The structure of ResNet-50 v1.5, for its form in floats and its quantised forms. Internal to the zoo.
#pragma once

#include "harness/zoo/network_builder.h"

namespace opkit::zoo::resnet50 {

inline constexpr int64_t kClasses = 1000;
inline constexpr int64_t kExpansion = 4;
/// The last normalisation of a residual branch is damped, as trained networks' are, so that the sum of sixteen
/// branches stays of order one.
inline constexpr double kBranchGain = 0.3;

/// A convolution with its normalisation, and a Relu if `activated`.
struct Layer {
  int64_t in, out, kernel;
  ConvOptions options = {};
  double gain = 1;
  bool activated = true;
};

inline std::vector<Attribute> maxPoolAttributes() {
  using Ints = std::vector<int64_t>;
  return {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"pads", Ints(4, 1)}};
}

template <class Layers>
typename Layers::Value bottleneck(Layers& net, const typename Layers::Value& x, int64_t in, int64_t width,
                                  int64_t stride) {
  const int64_t out = width * kExpansion;
  auto y = net.conv(x, {in, width, 1});
  y = net.conv(y, {width, width, 3, {.stride = stride, .pad = 1}});
  y = net.conv(y, {width, out, 1, {}, kBranchGain, false});
  const bool project = stride != 1 || in != out;
  return net.sum(y, project ? net.conv(x, {in, out, 1, {.stride = stride}, 0.7, false}) : x);
}

/// Layers has a type Value and makes values: conv(x, Layer), sum(a, b) with a Relu, maxPool(x), and the bytes of the
/// network: classes(x, channels).
template <class Layers>
std::vector<uint8_t> build(Layers& net, typename Layers::Value x) {
  struct Stage {
    int64_t width, blocks, stride;
  };
  constexpr Stage kStages[] = {{64, 3, 1}, {128, 4, 2}, {256, 6, 2}, {512, 3, 2}};
  x = net.maxPool(net.conv(x, {3, 64, 7, {.stride = 2, .pad = 3}}));
  int64_t channels = 64;
  for (const Stage& stage : kStages) {
    for (int64_t i = 0; i < stage.blocks; ++i) {
      x = bottleneck(net, x, channels, stage.width, i == 0 ? stage.stride : 1);
      channels = stage.width * kExpansion;
    }
  }
  return net.classes(x, channels);
}

}  // namespace opkit::zoo::resnet50
