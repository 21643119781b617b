#include "harness/zoo/network_builder.h"
#include "harness/zoo/networks.h"

namespace opkit::zoo {
namespace {

struct Block {
  int64_t channels;  // at width 1
  int64_t stride;
};
constexpr Block kBlocks[] = {{64, 1},  {128, 2}, {128, 1}, {256, 2}, {256, 1},  {512, 2}, {512, 1},
                             {512, 1}, {512, 1}, {512, 1}, {512, 1}, {1024, 2}, {1024, 1}};
constexpr int64_t kWidthDivisor = 4;

}  // namespace

std::vector<uint8_t> buildMobilenetV1Fp16() {
  NetworkBuilder net("mobilenet_v1_fp16", 17, 1707, onnx::TensorProto::FLOAT16);
  const std::string zero = net.scalar(0.0f);
  const std::string six = net.scalar(6.0f);
  const auto convNormRelu6 = [&](const std::string& x, int64_t in, int64_t out, int64_t kernel,
                                 const ConvOptions& options) {
    return net.node("Clip", {net.batchNormalization(net.conv(x, in, out, kernel, options), out), zero, six});
  };
  std::string x = net.input("input", {"N", 3, "H", "W"}, {1, 3, 224, 224});
  x = net.node("Cast", {x}, {{"to", int64_t{onnx::TensorProto::FLOAT16}}});
  int64_t channels = 32 / kWidthDivisor;
  x = convNormRelu6(x, 3, channels, 3, {.stride = 2, .pad = 1});
  for (const Block& block : kBlocks) {
    x = convNormRelu6(x, channels, channels, 3, {.stride = block.stride, .pad = 1, .groups = channels});
    x = convNormRelu6(x, channels, block.channels / kWidthDivisor, 1, {});
    channels = block.channels / kWidthDivisor;
  }
  x = net.node("Flatten", {net.node("GlobalAveragePool", {x})}, {{"axis", int64_t{1}}});
  const std::string logits = net.gemm(x, channels, 1000);
  return net.finish(net.node("Cast", {logits}, {{"to", int64_t{onnx::TensorProto::FLOAT}}}), {"N", 1000});
}

}  // namespace opkit::zoo
