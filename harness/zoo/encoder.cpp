#include "harness/zoo/encoder.h"

#include <cmath>

namespace opkit::zoo {
namespace {

/// 0.5 x (1 + erf(x / sqrt 2))
std::string gelu(NetworkBuilder& net, const std::string& x) {
  const std::string error = net.node("Erf", {net.node("Div", {x, net.scalar(1.41421356f)})});
  const std::string gate = net.node("Add", {error, net.scalar(1.0f)});
  return net.node("Mul", {net.node("Mul", {x, gate}), net.scalar(0.5f)});
}

}  // namespace

std::string Encoder::norm(const std::string& x) {
  const std::string scale = net_.uniform({size_.model}, 0.8, 1.2);
  return net_.node("LayerNormalization", {x, scale, net_.normal({size_.model}, 0.1)},
                   {{"axis", int64_t{-1}}, {"epsilon", 1e-5f}});
}

std::string Encoder::linear(const std::string& x, int64_t in, int64_t out) {
  const std::string weight = net_.normal({in, out}, std::sqrt(1.0 / static_cast<double>(in)));
  return net_.node("Add", {net_.node("MatMul", {x, weight}), net_.normal({out}, 0.05)});
}

std::string Encoder::reshapeLike(const std::string& x, const std::string& like, const std::vector<int64_t>& tail) {
  const std::string shape = net_.node("Concat", {net_.extents(like, {0}), net_.extents(like, {1}), net_.integers(tail)},
                                      {{"axis", int64_t{0}}});
  return net_.node("Reshape", {x, shape});
}

std::string Encoder::heads(const std::string& x, bool keys) {
  const std::string split =
      reshapeLike(linear(x, size_.model, size_.model), x, {size_.heads, size_.model / size_.heads});
  const std::vector<int64_t> order = keys ? std::vector<int64_t>{0, 2, 3, 1} : std::vector<int64_t>{0, 2, 1, 3};
  return net_.node("Transpose", {split}, {{"perm", order}});
}

std::string Encoder::attention(const std::string& x) {
  const std::string query = heads(x, false);
  const std::string key = heads(x, true);
  const std::string value = heads(x, false);
  const std::string scale = net_.scalar(std::sqrt(static_cast<float>(size_.model / size_.heads)));
  const std::string scores = net_.node("Div", {net_.node("MatMul", {query, key}), scale});
  const std::string weights = net_.node("Softmax", {scores}, {{"axis", int64_t{-1}}});
  const std::string mixed =
      net_.node("Transpose", {net_.node("MatMul", {weights, value})}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
  return linear(reshapeLike(mixed, x, {size_.model}), size_.model, size_.model);
}

std::string Encoder::feedForward(const std::string& x) {
  return linear(gelu(net_, linear(x, size_.model, size_.hidden)), size_.hidden, size_.model);
}

}  // namespace opkit::zoo
