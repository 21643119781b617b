#include "harness/zoo/network_builder.h"
#include "harness/zoo/networks.h"

namespace opkit::zoo {
namespace {

struct Stage {
  int64_t expansion;
  int64_t channels;
  int64_t repeats;
  int64_t stride;  // of the first block
};
constexpr Stage kStages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                             {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};

class Mobilenet {
 public:
  std::vector<uint8_t> build() {
    zero_ = net_.scalar(0.0f);
    six_ = net_.scalar(6.0f);
    std::string x = net_.input("input", {"N", 3, "H", "W"}, {1, 3, 224, 224});
    x = convNormRelu6(x, 3, 32, 3, {.stride = 2, .pad = 1});
    int64_t channels = 32;
    for (const Stage& stage : kStages) {
      for (int64_t i = 0; i < stage.repeats; ++i) {
        x = block(x, channels, stage, i == 0 ? stage.stride : 1);
        channels = stage.channels;
      }
    }
    x = convNormRelu6(x, channels, 1280, 1, {});
    x = net_.node("Flatten", {net_.node("GlobalAveragePool", {x})}, {{"axis", int64_t{1}}});
    return net_.finish(net_.gemm(x, 1280, 1000), {"N", 1000});
  }

 private:
  std::string convNormRelu6(const std::string& x, int64_t in, int64_t out, int64_t kernel, const ConvOptions& options) {
    const std::string normed = net_.batchNormalization(net_.conv(x, in, out, kernel, options), out);
    return net_.node("Clip", {normed, zero_, six_});
  }

  /// Inverted residual: widen, filter each channel, narrow without an activation.
  std::string block(const std::string& x, int64_t in, const Stage& stage, int64_t stride) {
    const int64_t wide = in * stage.expansion;
    std::string y = stage.expansion == 1 ? x : convNormRelu6(x, in, wide, 1, {});
    y = convNormRelu6(y, wide, wide, 3, {.stride = stride, .pad = 1, .groups = wide});
    const bool residual = stride == 1 && in == stage.channels;
    y = net_.batchNormalization(net_.conv(y, wide, stage.channels, 1), stage.channels, residual ? 0.5 : 1.0);
    return residual ? net_.node("Add", {x, y}) : y;
  }

  NetworkBuilder net_{"mobilenet_v2", 13, 1202};
  std::string zero_;
  std::string six_;
};

}  // namespace

std::vector<uint8_t> buildMobilenetV2() { return Mobilenet().build(); }

}  // namespace opkit::zoo
