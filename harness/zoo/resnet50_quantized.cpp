// ResNet-50 in bytes, in two forms with the same numbers: every layer between DequantizeLinear and QuantizeLinear, and
// quantised operators. Weights are i8 with a scale per output channel, normalisations folded into them; activations are
// u8. Nothing is calibrated: steps suit the distribution that the weights were drawn for.
#include <algorithm>
#include <array>
#include <cmath>

#include "harness/zoo/networks.h"
#include "harness/zoo/resnet50.h"

namespace opkit::zoo {
namespace {

using Ints = std::vector<int64_t>;
using Type = onnx::TensorProto;

/// A tensor of u8 by name: (byte - zero) * step.
struct Quantized {
  std::string name;
  float step;
  uint8_t zero;
};

/// Weights [out, in, kernel, kernel] with a scale for each output, and a bias in units of scale times input step.
struct Weights {
  std::vector<int8_t> codes;
  std::vector<float> scales;
  std::vector<int32_t> bias;
};

class QuantizedLayers {
 public:
  using Value = Quantized;
  QuantizedLayers(NetworkBuilder& net, bool pairs) : net_(net), pairs_(pairs) {}

  Value quantized(const std::string& real, float step, uint8_t zero) {
    return {net_.node("QuantizeLinear", {real, net_.scalar(step), zeroOf(zero)}), step, zero};
  }
  Value conv(const Value& x, const resnet50::Layer& layer) {
    const Weights weights = drawn(x, layer);
    return product(x, layer, weights, layer.activated ? 0.04f : 0.06f, layer.activated ? 0 : 128);
  }
  Value sum(const Value& a, const Value& b);
  Value maxPool(const Value& x);
  std::vector<uint8_t> classes(const Value& x, int64_t channels);

 private:
  std::string zeroOf(uint8_t zero) { return net_.bytes(Type::UINT8, {}, std::array{zero}); }
  std::string real(const Value& x) {
    return net_.node("DequantizeLinear", {x.name, net_.scalar(x.step), zeroOf(x.zero)});
  }
  Weights drawn(const Value& x, const resnet50::Layer& layer);
  Value product(const Value& x, const resnet50::Layer& layer, const Weights& weights, float step, uint8_t zero);

  NetworkBuilder& net_;
  const bool pairs_;
};

/// The folded normalisation scales each output by 0.8 to 1.2 times the gain.
Weights QuantizedLayers::drawn(const Value& x, const resnet50::Layer& layer) {
  const int64_t depth = layer.in * layer.kernel * layer.kernel;
  const std::vector<float> values =
      net_.normalValues(static_cast<size_t>(layer.out * depth), std::sqrt(2.0 / static_cast<double>(depth)));
  const std::vector<float> factors =
      net_.uniformValues(static_cast<size_t>(layer.out), 0.8 * layer.gain, 1.2 * layer.gain);
  const std::vector<float> offsets = net_.normalValues(static_cast<size_t>(layer.out), 0.1);
  Weights weights;
  for (int64_t m = 0; m < layer.out; ++m) {
    const float* row = &values[static_cast<size_t>(m * depth)];
    float largest = 0;
    for (int64_t k = 0; k < depth; ++k) largest = std::max(largest, std::fabs(row[k]));
    const float step = largest / 127;
    for (int64_t k = 0; k < depth; ++k) weights.codes.push_back(static_cast<int8_t>(std::nearbyint(row[k] / step)));
    const float scale = step * factors[static_cast<size_t>(m)];
    weights.scales.push_back(scale);
    weights.bias.push_back(static_cast<int32_t>(std::nearbyint(offsets[static_cast<size_t>(m)] / (scale * x.step))));
  }
  return weights;
}

QuantizedLayers::Value QuantizedLayers::product(const Value& x, const resnet50::Layer& layer, const Weights& weights,
                                                float step, uint8_t zero) {
  const std::string w = net_.bytes(Type::INT8, {layer.out, layer.in, layer.kernel, layer.kernel}, weights.codes);
  const std::string scales = net_.floats({layer.out}, weights.scales);
  const std::vector<int8_t> none(weights.scales.size(), 0);
  const std::string zeros = net_.bytes(Type::INT8, {layer.out}, none);
  const std::string bias = net_.ints32({layer.out}, weights.bias);
  const std::vector<Attribute> attributes = {{"kernel_shape", Ints{layer.kernel, layer.kernel}},
                                             {"strides", Ints{layer.options.stride, layer.options.stride}},
                                             {"pads", Ints(4, layer.options.pad)}};
  if (!pairs_) {
    const std::string y = net_.node(
        "QLinearConv",
        {x.name, net_.scalar(x.step), zeroOf(x.zero), w, scales, zeros, net_.scalar(step), zeroOf(zero), bias},
        attributes);
    return {y, step, zero};
  }
  std::vector<float> units = weights.scales;
  for (float& unit : units) unit *= x.step;
  const std::vector<Attribute> perOutput = {{"axis", int64_t{0}}};
  const std::string offsets = net_.node("DequantizeLinear", {bias, net_.floats({layer.out}, units)}, perOutput);
  const std::string y =
      net_.node("Conv", {real(x), net_.node("DequantizeLinear", {w, scales, zeros}, perOutput), offsets}, attributes);
  return quantized(layer.activated ? net_.node("Relu", {y}) : y, step, zero);
}

QuantizedLayers::Value QuantizedLayers::sum(const Value& a, const Value& b) {
  constexpr float kStep = 0.05f;
  if (pairs_) return quantized(net_.node("Relu", {net_.node("Add", {real(a), real(b)})}), kStep, 0);
  const std::string y =
      net_.node("com.microsoft.QLinearAdd", {a.name, net_.scalar(a.step), zeroOf(a.zero), b.name, net_.scalar(b.step),
                                             zeroOf(b.zero), net_.scalar(kStep), zeroOf(0)});
  return {y, kStep, 0};
}

QuantizedLayers::Value QuantizedLayers::maxPool(const Value& x) {
  if (pairs_) return quantized(net_.node("MaxPool", {real(x)}, resnet50::maxPoolAttributes()), x.step, x.zero);
  return {net_.node("MaxPool", {x.name}, resnet50::maxPoolAttributes()), x.step, x.zero};
}

/// In pairs the classifier is a Gemm, in quantised operators a convolution of one pixel.
std::vector<uint8_t> QuantizedLayers::classes(const Value& x, int64_t channels) {
  constexpr float kMeanStep = 0.02f;
  constexpr uint8_t kMiddle = 128;
  const float step = 0.03f;
  const resnet50::Layer layer{channels, resnet50::kClasses, 1};
  Value means{"", kMeanStep, 0};
  if (pairs_)
    means = quantized(net_.node("GlobalAveragePool", {real(x)}), kMeanStep, 0);
  else
    means.name = net_.node("com.microsoft.QLinearGlobalAveragePool",
                           {x.name, net_.scalar(x.step), zeroOf(x.zero), net_.scalar(kMeanStep), zeroOf(0)});
  const Weights weights = drawn(means, layer);
  const std::vector<Attribute> flat = {{"axis", int64_t{1}}};
  Value y{"", step, kMiddle};
  if (pairs_) {
    const std::string list = net_.node("Flatten", {real(means)}, flat);
    const Value row = quantized(list, means.step, means.zero);
    std::vector<float> units = weights.scales;
    for (float& unit : units) unit *= means.step;
    const std::vector<Attribute> perOutput = {{"axis", int64_t{0}}};
    const std::vector<int8_t> none(weights.scales.size(), 0);
    const std::string w =
        net_.node("DequantizeLinear",
                  {net_.bytes(Type::INT8, {layer.out, layer.in}, weights.codes),
                   net_.floats({layer.out}, weights.scales), net_.bytes(Type::INT8, {layer.out}, none)},
                  perOutput);
    const std::string bias = net_.node(
        "DequantizeLinear", {net_.ints32({layer.out}, weights.bias), net_.floats({layer.out}, units)}, perOutput);
    y = quantized(net_.node("Gemm", {real(row), w, bias}, {{"transB", int64_t{1}}}), step, kMiddle);
  } else {
    y = product(means, layer, weights, step, kMiddle);
    y.name = net_.node("Flatten", {y.name}, flat);
  }
  return net_.finish(real(y), {"N", resnet50::kClasses});
}

std::vector<uint8_t> build(const char* name, bool pairs) {
  NetworkBuilder net(name, 13, 1303);
  QuantizedLayers layers(net, pairs);
  return resnet50::build(layers,
                         layers.quantized(net.input("input", {"N", 3, "H", "W"}, {1, 3, 224, 224}), 0.04f, 128));
}

}  // namespace

std::vector<uint8_t> buildResnet50Qdq() { return build("resnet50_qdq", true); }
std::vector<uint8_t> buildResnet50QLinear() { return build("resnet50_qlinear", false); }

}  // namespace opkit::zoo
