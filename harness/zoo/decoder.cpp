#include <cmath>

#include "harness/zoo/network_builder.h"
#include "harness/zoo/networks.h"

namespace opkit::zoo {
namespace {

constexpr double kFrequencyBase = 10000;

int64_t weightCount(const DecoderSizes& sizes) {
  const int64_t keys = sizes.model / sizes.heads * sizes.kvHeads;
  const int64_t attention = 2 * sizes.model * (sizes.model + keys);
  const int64_t layer = attention + 3 * sizes.model * sizes.hidden + 2 * sizes.model;
  return sizes.layers * layer + 2 * sizes.vocabulary * sizes.model + sizes.model;
}

/// base^(-numerator / denominator), for a numerator below the denominator. Only products and square roots, which IEEE
/// 754 rounds correctly, so that the result has the same bits on every platform; std::pow may not.
double inversePower(double base, int64_t numerator, int64_t denominator) {
  double result = 1, root = 1 / base;
  for (int bit = 0; bit < 52; ++bit) {  // of the binary fraction numerator / denominator
    root = std::sqrt(root);
    numerator *= 2;
    if (numerator < denominator) continue;
    numerator -= denominator;
    result *= root;
  }
  return result;
}

class Decoder {
 public:
  explicit Decoder(const DecoderSizes& sizes) : sizes_(sizes) {}

  std::vector<uint8_t> build() {
    const auto ids = onnx::TensorProto::INT64;
    const std::string tokens = net_.input("input_ids", {"N", "S"}, {1, kStartTokens}, ids);
    positions_ = net_.input("position_ids", {"N", "S"}, {1, kStartTokens}, ids);
    makeAngles();
    std::string x = net_.node("Gather", {net_.normal({sizes_.vocabulary, sizes_.model}, 1), tokens});
    for (int64_t layer = 0; layer < sizes_.layers; ++layer) {
      x = net_.node("Add", {x, attention(norm(x), std::to_string(layer))});
      x = net_.node("Add", {x, feedForward(norm(x))});
    }
    net_.output("logits", linear(norm(x), sizes_.model, sizes_.vocabulary, 4), {"N", "S", sizes_.vocabulary});
    for (const Present& present : presents_)
      net_.output(present.name, present.value, {"N", sizes_.kvHeads, "T", headSize()});
    return net_.finish();
  }

 private:
  static constexpr int64_t kStartTokens = 8;  // new ones and cached ones

  struct Present {
    std::string name;
    std::string value;
  };

  int64_t headSize() const { return sizes_.model / sizes_.heads; }

  /// The cosine and sine of every position and pair of elements, [context, pairs]. Sines and cosines are computed by
  /// the network, since no two standard libraries round them alike: the file holds only the frequencies.
  void makeAngles() {
    const int64_t pairs = headSize() / 2;
    std::vector<float> frequencies;
    for (int64_t i = 0; i < pairs; ++i)
      frequencies.push_back(static_cast<float>(inversePower(kFrequencyBase, i, pairs)));
    const std::string range = net_.node("Range", {net_.integer(0), net_.integer(sizes_.context), net_.integer(1)});
    const std::string places = net_.node("Cast", {range}, {{"to", int64_t{onnx::TensorProto::FLOAT}}});
    const std::string column = net_.node("Unsqueeze", {places, net_.integers({1})});
    const std::string angles = net_.node("Mul", {column, net_.reals(frequencies)});
    cosines_ = net_.node("Cos", {angles});
    sines_ = net_.node("Sin", {angles});
  }

  std::string norm(const std::string& x) {
    return net_.node("RMSNormalization", {x, net_.uniform({sizes_.model}, 0.8, 1.2)}, {{"epsilon", 1e-5F}});
  }

  /// x [N, S, in] of unit variance to [N, S, out] of standard deviation `gain`.
  std::string linear(const std::string& x, int64_t in, int64_t out, double gain) {
    return net_.node("MatMul", {x, net_.normal({in, out}, gain * std::sqrt(1 / static_cast<double>(in)))});
  }

  /// Turns the heads of x [N, S, heads * size] by the angles of their positions.
  std::string rotated(const std::string& x, int64_t heads) {
    return net_.node("RotaryEmbedding", {x, cosines_, sines_, positions_}, {{"num_heads", heads}});
  }

  std::string past(const std::string& name) {
    return net_.input(name, {"N", sizes_.kvHeads, "P", headSize()}, {1, sizes_.kvHeads, kStartTokens, headSize()});
  }

  /// Scores have a standard deviation of 2.25, so that a token listens to few others.
  std::string attention(const std::string& x, const std::string& layer) {
    const int64_t keys = sizes_.kvHeads * headSize();
    const std::string q = rotated(linear(x, sizes_.model, sizes_.model, 1.5), sizes_.heads);
    const std::string k = rotated(linear(x, sizes_.model, keys, 1.5), sizes_.kvHeads);
    const std::string v = linear(x, sizes_.model, keys, 1);
    const std::string pastKey = past("past_key_" + layer), pastValue = past("past_value_" + layer);
    const std::vector<std::string> made =
        net_.outputs(3, "Attention", {q, k, v, "", pastKey, pastValue},
                     {{"is_causal", int64_t{1}}, {"q_num_heads", sizes_.heads}, {"kv_num_heads", sizes_.kvHeads}});
    presents_.push_back({"present_key_" + layer, made[1]});
    presents_.push_back({"present_value_" + layer, made[2]});
    return linear(made[0], sizes_.model, sizes_.model, 1);
  }

  /// SwiGLU: the gate times its sigmoid, times the second projection.
  std::string feedForward(const std::string& x) {
    const std::string gate = linear(x, sizes_.model, sizes_.hidden, 1);
    const std::string swish = net_.node("Mul", {gate, net_.node("Sigmoid", {gate})});
    const std::string product = net_.node("Mul", {swish, linear(x, sizes_.model, sizes_.hidden, 1)});
    return linear(product, sizes_.hidden, sizes_.model, 1);
  }

  DecoderSizes sizes_;
  NetworkBuilder net_{"decoder", 23, 2323};
  std::string positions_, cosines_, sines_;
  std::vector<Present> presents_;
};

}  // namespace

Status checkDecoder(const DecoderSizes& sizes) {
  if (sizes.model % sizes.heads != 0 || sizes.model / sizes.heads % 2 != 0)
    return Status::invalidArgument("model must be an even multiple of heads, got {} and {}", sizes.model, sizes.heads);
  if (sizes.heads % sizes.kvHeads != 0)
    return Status::invalidArgument("heads must be a multiple of kv_heads, got {} and {}", sizes.heads, sizes.kvHeads);
  constexpr int64_t kMostWeights = int64_t{500} << 20;  // of 4 bytes: the rest of the 2 GiB of a file is for nodes
  const int64_t weights = weightCount(sizes);
  if (weights > kMostWeights)
    return Status::invalidArgument("one ONNX file holds at most {} weights, got {}", kMostWeights, weights);
  return Status::ok();
}

std::vector<uint8_t> buildDecoder(const DecoderSizes& sizes) { return Decoder(sizes).build(); }

}  // namespace opkit::zoo
