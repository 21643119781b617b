#include "harness/zoo/resnet50.h"

#include "harness/zoo/networks.h"

namespace opkit::zoo {
namespace {

struct FloatLayers {
  using Value = std::string;
  NetworkBuilder& net;

  Value conv(const Value& x, const resnet50::Layer& layer) {
    const Value y =
        net.batchNormalization(net.conv(x, layer.in, layer.out, layer.kernel, layer.options), layer.out, layer.gain);
    return layer.activated ? net.node("Relu", {y}) : y;
  }
  Value sum(const Value& a, const Value& b) { return net.node("Relu", {net.node("Add", {a, b})}); }
  Value maxPool(const Value& x) { return net.node("MaxPool", {x}, resnet50::maxPoolAttributes()); }
  std::vector<uint8_t> classes(const Value& x, int64_t channels) {
    const Value means = net.node("Flatten", {net.node("GlobalAveragePool", {x})}, {{"axis", int64_t{1}}});
    return net.finish(net.gemm(means, channels, resnet50::kClasses), {"N", resnet50::kClasses});
  }
};

}  // namespace

std::vector<uint8_t> buildResnet50() {
  NetworkBuilder net("resnet50", 13, 1303);
  FloatLayers layers{net};
  return resnet50::build(layers, net.input("input", {"N", 3, "H", "W"}, {1, 3, 224, 224}));
}

}  // namespace opkit::zoo
