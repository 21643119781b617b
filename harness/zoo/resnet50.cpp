#include "harness/zoo/network_builder.h"
#include "harness/zoo/networks.h"

namespace opkit::zoo {
namespace {

constexpr int64_t kExpansion = 4;
/// The last normalisation of a residual branch is damped, as trained networks' are, so that the sum of sixteen
/// branches stays of order one.
constexpr double kBranchGain = 0.3;

struct Stage {
  int64_t width;
  int64_t blocks;
  int64_t stride;
};
constexpr Stage kStages[] = {{64, 3, 1}, {128, 4, 2}, {256, 6, 2}, {512, 3, 2}};

std::string convNorm(NetworkBuilder& net, const std::string& x, int64_t in, int64_t out, int64_t kernel,
                     const ConvOptions& options, double gain = 1.0) {
  return net.batchNormalization(net.conv(x, in, out, kernel, options), out, gain);
}

std::string bottleneck(NetworkBuilder& net, const std::string& x, int64_t in, int64_t width, int64_t stride) {
  const int64_t out = width * kExpansion;
  std::string y = net.node("Relu", {convNorm(net, x, in, width, 1, {})});
  y = net.node("Relu", {convNorm(net, y, width, width, 3, {.stride = stride, .pad = 1})});
  y = convNorm(net, y, width, out, 1, {}, kBranchGain);
  const bool project = stride != 1 || in != out;
  const std::string shortcut = project ? convNorm(net, x, in, out, 1, {.stride = stride}, 0.7) : x;
  return net.node("Relu", {net.node("Add", {y, shortcut})});
}

}  // namespace

std::vector<uint8_t> buildResnet50() {
  NetworkBuilder net("resnet50", 13, 1303);
  std::string x = net.input("input", {"N", 3, "H", "W"}, {1, 3, 224, 224});
  x = net.node("Relu", {convNorm(net, x, 3, 64, 7, {.stride = 2, .pad = 3})});
  using Ints = std::vector<int64_t>;
  x = net.node("MaxPool", {x}, {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"pads", Ints(4, 1)}});
  int64_t channels = 64;
  for (const Stage& stage : kStages) {
    for (int64_t i = 0; i < stage.blocks; ++i) {
      x = bottleneck(net, x, channels, stage.width, i == 0 ? stage.stride : 1);
      channels = stage.width * kExpansion;
    }
  }
  x = net.node("Flatten", {net.node("GlobalAveragePool", {x})}, {{"axis", int64_t{1}}});
  return net.finish(net.gemm(x, channels, 1000), {"N", 1000});
}

}  // namespace opkit::zoo
