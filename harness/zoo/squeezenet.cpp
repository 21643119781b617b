#include "harness/zoo/network_builder.h"
#include "harness/zoo/networks.h"

namespace opkit::zoo {
namespace {

std::string convRelu(NetworkBuilder& net, const std::string& x, int64_t in, int64_t out, int64_t kernel,
                     const ConvOptions& options) {
  return net.node("Relu", {net.conv(x, in, out, kernel, options)});
}

/// Squeeze to few channels, expand them with 1x1 and 3x3 kernels side by side.
std::string fire(NetworkBuilder& net, const std::string& x, int64_t in, int64_t squeeze, int64_t expand) {
  const std::string small = convRelu(net, x, in, squeeze, 1, {.bias = true});
  const std::string left = convRelu(net, small, squeeze, expand, 1, {.bias = true});
  const std::string right = convRelu(net, small, squeeze, expand, 3, {.pad = 1, .bias = true});
  return net.node("Concat", {left, right}, {{"axis", int64_t{1}}});
}

std::string pool(NetworkBuilder& net, const std::string& x) {
  using Ints = std::vector<int64_t>;
  return net.node("MaxPool", {x}, {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"pads", Ints(4, 0)}});
}

}  // namespace

std::vector<uint8_t> buildSqueezenet() {
  NetworkBuilder net("squeezenet1.1", 13, 1101);
  std::string x = net.input("input", {"N", 3, "H", "W"}, {1, 3, 224, 224});
  x = pool(net, convRelu(net, x, 3, 64, 3, {.stride = 2, .bias = true}));
  x = fire(net, x, 64, 16, 64);
  x = pool(net, fire(net, x, 128, 16, 64));
  x = fire(net, x, 128, 32, 128);
  x = pool(net, fire(net, x, 256, 32, 128));
  x = fire(net, x, 256, 48, 192);
  x = fire(net, x, 384, 48, 192);
  x = fire(net, x, 384, 64, 256);
  x = net.node("Dropout", {fire(net, x, 512, 64, 256)});
  x = convRelu(net, x, 512, 1000, 1, {.bias = true});
  x = net.node("Flatten", {net.node("GlobalAveragePool", {x})}, {{"axis", int64_t{1}}});
  return net.finish(x, {"N", 1000});
}

}  // namespace opkit::zoo
