#include <cmath>

#include "harness/zoo/encoder.h"
#include "harness/zoo/networks.h"

namespace opkit::zoo {

std::vector<uint8_t> buildVit() {
  constexpr int64_t kModel = 192;
  constexpr int64_t kPatch = 16;
  constexpr int64_t kPatches = (224 / kPatch) * (224 / kPatch);
  NetworkBuilder net("vit", 17, 1606);
  Encoder encoder(net, {.model = kModel, .heads = 3, .hidden = 4 * kModel});
  const std::string image = net.input("input", {"N", 3, 224, 224}, {1, 3, 224, 224});
  const std::string patches = net.conv(image, 3, kModel, kPatch, {.stride = kPatch, .bias = true});
  const std::string columns = net.node("Reshape", {patches, net.integers({0, kModel, -1})});
  const std::string rows = net.node("Transpose", {columns}, {{"perm", std::vector<int64_t>{0, 2, 1}}});
  const std::string shape =
      net.node("Concat", {net.extents(image, {0}), net.integers({1, kModel})}, {{"axis", int64_t{0}}});
  const std::string token = net.node("Expand", {net.normal({1, 1, kModel}, 0.02), shape});
  std::string x = net.node("Concat", {token, rows}, {{"axis", int64_t{1}}});
  x = net.node("Add", {x, net.normal({1, kPatches + 1, kModel}, 0.02)});
  for (int layer = 0; layer < 12; ++layer) {
    x = net.node("Add", {x, encoder.attention(encoder.norm(x))});
    x = net.node("Add", {x, encoder.feedForward(encoder.norm(x))});
  }
  const std::string first = net.node("Gather", {encoder.norm(x), net.integer(0)}, {{"axis", int64_t{1}}});
  return net.finish(net.gemm(first, kModel, 1000), {"N", 1000});
}

}  // namespace opkit::zoo
