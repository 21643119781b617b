#include "harness/zoo/encoder.h"
#include "harness/zoo/networks.h"

namespace opkit::zoo {

std::vector<uint8_t> buildTransformer() {
  constexpr int64_t kModel = 128;
  NetworkBuilder net("transformer_encoder", 17, 1404);
  Encoder encoder(net, {.model = kModel, .heads = 4, .hidden = 512});
  std::string x = net.input("input", {"N", "S", kModel});
  for (int layer = 0; layer < 2; ++layer) {
    x = encoder.norm(net.node("Add", {x, encoder.attention(x)}));
    x = encoder.norm(net.node("Add", {x, encoder.feedForward(x)}));
  }
  return net.finish(x, {"N", "S", kModel});
}

}  // namespace opkit::zoo
