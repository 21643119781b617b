#include <cmath>

#include "harness/zoo/network_builder.h"
#include "harness/zoo/networks.h"

namespace opkit::zoo {
namespace {

constexpr int64_t kWidth = 16;  // of the first level; each further level has twice as many channels
constexpr int kLevels = 4;
using Ints = std::vector<int64_t>;

std::string twoConvolutions(NetworkBuilder& net, std::string x, int64_t in, int64_t out) {
  for (const int64_t channels : {in, out})
    x = net.node("Relu", {net.batchNormalization(net.conv(x, channels, out, 3, {.pad = 1}), out)});
  return x;
}

/// Twice the height and width, half the channels.
std::string up(NetworkBuilder& net, const std::string& x, int64_t in) {
  const std::string weight = net.normal({in, in / 2, 2, 2}, std::sqrt(1.0 / static_cast<double>(in)));
  return net.node("ConvTranspose", {x, weight, net.normal({in / 2}, 0.05)},
                  {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
}

}  // namespace

std::vector<uint8_t> buildUnet() {
  NetworkBuilder net("unet", 17, 1505);
  std::string x = net.input("input", {"N", 3, "H", "W"}, {1, 3, 128, 128});
  std::vector<std::string> skips;
  int64_t channels = 3;
  for (int level = 0; level < kLevels; ++level) {
    x = twoConvolutions(net, x, channels, kWidth << level);
    skips.push_back(x);
    x = net.node("MaxPool", {x}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
    channels = kWidth << level;
  }
  x = twoConvolutions(net, x, channels, 2 * channels);
  for (int level = kLevels - 1; level >= 0; --level) {
    channels = kWidth << level;
    x = net.node("Concat", {skips[static_cast<size_t>(level)], up(net, x, 2 * channels)}, {{"axis", int64_t{1}}});
    x = twoConvolutions(net, x, 2 * channels, channels);
  }
  const std::string classes = net.conv(x, kWidth, 2, 1, {.bias = true});
  return net.finish(net.node("Softmax", {classes}, {{"axis", int64_t{1}}}), {"N", 2, "H", "W"});
}

}  // namespace opkit::zoo
