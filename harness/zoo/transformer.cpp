#include <cmath>

#include "harness/zoo/network_builder.h"
#include "harness/zoo/networks.h"

namespace opkit::zoo {
namespace {

constexpr int64_t kModel = 128;
constexpr int64_t kHeads = 4;
constexpr int64_t kHeadSize = kModel / kHeads;
constexpr int64_t kHidden = 512;
constexpr int kLayers = 2;

class Transformer {
 public:
  std::vector<uint8_t> build() {
    std::string x = net_.input("input", {"N", "S", kModel});
    for (int layer = 0; layer < kLayers; ++layer) {
      x = norm(net_.node("Add", {x, attention(x)}));
      x = norm(net_.node("Add", {x, feedForward(x)}));
    }
    return net_.finish(x, {"N", "S", kModel});
  }

 private:
  std::string norm(const std::string& x) {
    const std::string scale = net_.uniform({kModel}, 0.8, 1.2);
    return net_.node("LayerNormalization", {x, scale, net_.normal({kModel}, 0.1)},
                     {{"axis", int64_t{-1}}, {"epsilon", 1e-5f}});
  }

  std::string linear(const std::string& x, int64_t in, int64_t out) {
    const std::string weight = net_.normal({in, out}, std::sqrt(1.0 / static_cast<double>(in)));
    return net_.node("Add", {net_.node("MatMul", {x, weight}), net_.normal({out}, 0.05)});
  }

  /// The extent of one axis of x as a 1-element tensor.
  std::string extent(const std::string& x, int64_t axis) {
    return net_.node("Gather", {net_.node("Shape", {x}), net_.integers({axis})}, {{"axis", int64_t{0}}});
  }

  /// Reshapes to [N, S, tail...], N and S read from `like` at run time.
  std::string reshapeLike(const std::string& x, const std::string& like, const std::vector<int64_t>& tail) {
    const std::string shape =
        net_.node("Concat", {extent(like, 0), extent(like, 1), net_.integers(tail)}, {{"axis", int64_t{0}}});
    return net_.node("Reshape", {x, shape});
  }

  /// [N, S, model] to [N, heads, S, size], or to [N, heads, size, S] for keys.
  std::string heads(const std::string& x, bool keys) {
    const std::string split = reshapeLike(linear(x, kModel, kModel), x, {kHeads, kHeadSize});
    const std::vector<int64_t> order = keys ? std::vector<int64_t>{0, 2, 3, 1} : std::vector<int64_t>{0, 2, 1, 3};
    return net_.node("Transpose", {split}, {{"perm", order}});
  }

  std::string attention(const std::string& x) {
    const std::string query = heads(x, false);
    const std::string key = heads(x, true);
    const std::string value = heads(x, false);
    const std::string scale = net_.scalar(std::sqrt(static_cast<float>(kHeadSize)));
    const std::string scores = net_.node("Div", {net_.node("MatMul", {query, key}), scale});
    const std::string weights = net_.node("Softmax", {scores}, {{"axis", int64_t{-1}}});
    const std::string mixed =
        net_.node("Transpose", {net_.node("MatMul", {weights, value})}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
    return linear(reshapeLike(mixed, x, {kModel}), kModel, kModel);
  }

  /// 0.5 x (1 + erf(x / sqrt 2))
  std::string gelu(const std::string& x) {
    const std::string error = net_.node("Erf", {net_.node("Div", {x, net_.scalar(1.41421356f)})});
    const std::string gate = net_.node("Add", {error, net_.scalar(1.0f)});
    return net_.node("Mul", {net_.node("Mul", {x, gate}), net_.scalar(0.5f)});
  }

  std::string feedForward(const std::string& x) { return linear(gelu(linear(x, kModel, kHidden)), kHidden, kModel); }

  NetworkBuilder net_{"transformer_encoder", 17, 1404};
};

}  // namespace

std::vector<uint8_t> buildTransformer() { return Transformer().build(); }

}  // namespace opkit::zoo
