// For tests of the rules of com.microsoft: arrays of doubles, attention in plain loops, and nodes with absent inputs.
#pragma once

#include <functional>
#include <limits>
#include <optional>

#include "ops/features/onnx_ml_node.h"

namespace opkit::ops::com_microsoft {

/// Elements in the order of the shape.
struct Array {
  Shape shape;
  std::vector<double> values;

  explicit Array(Shape extents) : shape(std::move(extents)), values(static_cast<size_t>(elementCount(shape)), 0.0) {}
  double& at(const std::vector<int64_t>& place) {
    int64_t i = 0;
    for (size_t d = 0; d < place.size(); ++d) i = i * shape[d] + place[d];
    return values[static_cast<size_t>(i)];
  }
  double at(const std::vector<int64_t>& place) const { return const_cast<Array*>(this)->at(place); }
  /// The same elements under another shape.
  Array as(Shape extents) const {
    Array y(std::move(extents));
    y.values = values;
    return y;
  }
};

/// Values in [-1, 1] that f32 holds; other ones for another seed.
inline Array wave(Shape shape, double seed) {
  Array x(std::move(shape));
  for (size_t i = 0; i < x.values.size(); ++i)
    x.values[i] = static_cast<double>(static_cast<float>(std::sin(seed * 3.1 + 1.7 * static_cast<double>(i))));
  return x;
}

/// [batch, tokens, heads * size] as [batch, heads, tokens, size].
inline Array byHeads(const Array& x, int64_t heads) {
  const int64_t size = x.shape[2] / heads;
  Array y({x.shape[0], heads, x.shape[1], size});
  for (int64_t b = 0; b < x.shape[0]; ++b)
    for (int64_t t = 0; t < x.shape[1]; ++t)
      for (int64_t i = 0; i < x.shape[2]; ++i) y.at({b, i / size, t, i % size}) = x.at({b, t, i});
  return y;
}

/// Two arrays [batch, heads, tokens, size], one behind the other.
inline Array behind(const Array& first, const Array& second) {
  const Shape &from = first.shape, &more = second.shape;
  Array y({from[0], from[1], from[2] + more[2], from[3]});
  for (int64_t b = 0; b < from[0]; ++b)
    for (int64_t h = 0; h < from[1]; ++h)
      for (int64_t t = 0; t < y.shape[2]; ++t)
        for (int64_t i = 0; i < from[3]; ++i)
          y.at({b, h, t, i}) = t < from[2] ? first.at({b, h, t, i}) : second.at({b, h, t - from[2], i});
  return y;
}

/// x [..., size] plus the elements of the bias from `first` on.
inline Array plusBias(Array x, const Array& bias, int64_t first) {
  const int64_t size = x.shape.back();
  for (size_t i = 0; i < x.values.size(); ++i)
    x.values[i] += bias.values[static_cast<size_t>(first + static_cast<int64_t>(i) % size)];
  return x;
}

/// Added to the score of a batch, head, query and key; kHidden hides the key.
using Added = std::function<double(int64_t, int64_t, int64_t, int64_t)>;

constexpr double kHidden = -std::numeric_limits<double>::infinity();

/// One row of scores as weights. A sink is one more score, whose weight is left out.
inline void softmax(std::vector<double>& row, double sink = kHidden) {
  const double most = std::max(*std::ranges::max_element(row), sink);
  double sum = std::exp(sink - most);
  for (double& score : row) sum += score = std::exp(score - most);
  for (double& weight : row) weight /= sum;
}

/// The factors of scores, without the added numbers.
struct Scoring {
  double scale;
  double softcap = 0;              // c * tanh(score / c), before the added numbers; none if 0
  std::vector<double> sinks = {};  // one for each head of q, or none

  Scoring(double factor, double cap = 0, std::vector<double> more = {})
      : scale(factor), softcap(cap), sinks(std::move(more)) {}
  double capped(double score) const { return softcap > 0 ? softcap * std::tanh(score / softcap) : score; }
  double sinkOf(int64_t head) const { return sinks.empty() ? kHidden : sinks[static_cast<size_t>(head)]; }
};

/// softmax(scale q k + added) v of arrays [batch, heads, tokens, size], as [batch, tokens, heads * size]. Heads of k
/// and v serve groups of heads of q.
inline Array attend(const Array& q, const Array& k, const Array& v, const Scoring& scoring, const Added& added) {
  const int64_t heads = q.shape[1], size = q.shape[3], group = heads / k.shape[1], valueSize = v.shape[3];
  Array y({q.shape[0], q.shape[2], heads * valueSize});
  std::vector<double> row(static_cast<size_t>(k.shape[2]));
  for (int64_t b = 0; b < q.shape[0]; ++b)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t s = 0; s < q.shape[2]; ++s) {
        for (int64_t t = 0; t < k.shape[2]; ++t) {
          double& score = row[static_cast<size_t>(t)];
          double product = 0;
          for (int64_t i = 0; i < size; ++i) product += q.at({b, h, s, i}) * k.at({b, h / group, t, i});
          score = scoring.capped(scoring.scale * product) + added(b, h, s, t);
        }
        softmax(row, scoring.sinkOf(h));
        for (int64_t t = 0; t < k.shape[2]; ++t)
          for (int64_t i = 0; i < valueSize; ++i)
            y.at({b, s, h * valueSize + i}) += row[static_cast<size_t>(t)] * v.at({b, h / group, t, i});
      }
  return y;
}
inline double nothingAdded(int64_t, int64_t, int64_t, int64_t) { return 0; }

inline Tensor tensorOf(const Array& x) {
  return features::floats(x.shape, features::Floats(x.values.begin(), x.values.end()));
}
inline Tensor integers(Shape shape, const std::vector<int32_t>& values) {
  return features::tensor(DType::Int32, std::move(shape), values);
}

/// A node of com.microsoft and the values of its inputs; those without a value are absent.
struct NodeCase {
  NodeCase(const char* type, const std::vector<std::optional<Tensor>>& given) : node(type, descsOf(given)) {
    node.domain = "com.microsoft::";
    for (size_t i = 0; i < given.size(); ++i) {
      inputs.push_back(given[i] ? *given[i] : features::floats({}, {0}));
      if (!given[i]) node.leaveOut(i);
    }
  }

  /// Imports the node and compares its outputs on every backend.
  void expect(const std::vector<Array>& outputs, double tolerance = 1e-3) {
    node.usedOutputs = outputs.size();
    std::vector<features::Expected> expected;
    for (const Array& y : outputs) expected.push_back({y.shape, y.values, tolerance});
    features::expectOutputs(node, inputs, expected);
  }
  /// The message that refuses a run of the imported node.
  std::string runRefusal() {
    const Status imported = node.import();
    if (!imported.isOk()) return "the import: " + imported.message();
    return features::runNetwork(node, "cpu", inputs, [](size_t, const Tensor&) {}).message();
  }

  features::Node node;
  std::vector<Tensor> inputs;

 private:
  static std::vector<TensorDesc> descsOf(const std::vector<std::optional<Tensor>>& given) {
    std::vector<TensorDesc> descs;
    for (const auto& one : given) descs.push_back(one ? one->desc : TensorDesc{DType::Float32, {}});
    return descs;
  }
};

}  // namespace opkit::ops::com_microsoft
