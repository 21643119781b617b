#include <array>
#include <cmath>

#include "engine/op/oracle_elements.h"
#include "ops/attention/attention_parts.h"

namespace opkit::ops::attention {
namespace {

using Rows = std::vector<std::vector<double>>;

/// q, k or v, and what was cached before it.
struct Tokens {
  const OracleTensor* x;
  int64_t heads;
  const OracleTensor* past = nullptr;

  bool isPacked() const { return x->shape().size() == 3; }
  int64_t size() const { return isPacked() ? x->shape()[2] / heads : x->shape()[3]; }
  int64_t added() const { return isPacked() ? x->shape()[1] : x->shape()[2]; }
  int64_t cached() const { return past ? past->shape()[2] : 0; }
  int64_t count() const { return cached() + added(); }
  double at(int64_t batch, int64_t head, int64_t token, int64_t d) const {
    if (token < cached()) return past->real[elementAt(past->shape(), {batch, head, token, d})];
    const int64_t own = token - cached();
    return x->real[isPacked() ? elementAt(x->shape(), {batch, own, head * size() + d})
                              : elementAt(x->shape(), {batch, head, own, d})];
  }
  /// The tokens of one head.
  Rows rowsOf(int64_t batch, int64_t head) const {
    Rows rows;
    for (int64_t token = 0; token < count(); ++token) {
      std::vector<double>& row = rows.emplace_back();
      for (int64_t d = 0; d < size(); ++d) row.push_back(at(batch, head, token, d));
    }
    return rows;
  }
};

int64_t headsOfOracle(const OracleTensor& x, int64_t heads) { return x.shape().size() == 4 ? x.shape()[1] : heads; }

/// One key as a query sees it.
struct Score {
  double product = 0, capped = 0, masked = -INFINITY, weight = 0;
  double doubt = 0;  // sum of the magnitudes that were added: its absolute error in units of roundoff
  bool isSeen = false;
};

struct KeyRange {
  int64_t first, end;
};

/// Attention of one node, a query at a time.
struct Oracle {
  Tokens q, k, v;
  const OracleTensor* mask = nullptr;
  const OracleTensor* lengths = nullptr;
  const OracleTensor* sink = nullptr;  // a score per head that weighs no value
  int64_t left = -1, right = -1, past = 0;
  double scale = 1, softcap = 0;

  double sinkOf(int64_t head) const { return sink ? sink->real[static_cast<size_t>(head)] : -INFINITY; }

  /// The keys that the query may see, before the mask.
  KeyRange seenBy(int64_t batch, int64_t query) const {
    const int64_t given = lengths ? lengths->integer[static_cast<size_t>(batch)] : k.count();
    const int64_t position = query + (lengths ? given - q.added() : past);
    const int64_t most = q.added() + k.count() + std::abs(position);  // a wider window sees all keys
    const int64_t length = std::min(given, k.count());
    const int64_t first = left < 0 ? 0 : std::max<int64_t>(position - std::min(left, most), 0);
    const int64_t end = right < 0 ? length : std::min(position + std::min(right, most) + 1, length);
    return {first, std::max(first, end)};
  }

  /// Adds the mask's element to a score; removes the score where a mask of bool is false, another is -infinity, or the
  /// mask has no such key.
  void applyMask(const Coordinates& at, Score& score) const {
    const int64_t keys = mask->shape().empty() ? 1 : mask->shape().back();
    if (keys != 1 && at[3] >= keys) {
      score.isSeen = false;
      return;
    }
    const size_t element = broadcastElementAt(mask->shape(), at);
    if (mask->desc.dtype == DType::Bool) {
      score.isSeen = score.isSeen && mask->integer[element] != 0;
      return;
    }
    const double added = mask->isReal() ? mask->real[element] : static_cast<double>(mask->integer[element]);
    score.isSeen = score.isSeen && added != -INFINITY;
    score.masked += added;
    if (std::isfinite(added)) score.doubt += std::fabs(added);
  }

  /// Of the keys in `range`: of all, if scores are an output, else of those that are seen. A narrow window over many
  /// tokens would take quadratic time.
  std::vector<Score> scoresOf(int64_t batch, int64_t head, int64_t query, const std::vector<double>& row,
                              const Rows& keys, const KeyRange& range) const {
    const KeyRange seen = seenBy(batch, query);
    std::vector<Score> scores(static_cast<size_t>(range.end - range.first));
    for (int64_t key = range.first; key < range.end; ++key) {
      Score& score = scores[static_cast<size_t>(key - range.first)];
      const std::vector<double>& other = keys[static_cast<size_t>(key)];
      for (size_t d = 0; d < row.size(); ++d) {
        const double term = row[d] * other[d] * scale;
        score.product += term;
        score.doubt += std::fabs(term);
      }
      score.capped = softcap > 0 ? softcap * std::tanh(score.product / softcap) : score.product;
      if (std::isfinite(score.capped)) score.doubt += std::fabs(score.capped);
      score.masked = score.capped;
      score.isSeen = key >= seen.first && key < seen.end;
      if (mask) applyMask({batch, head, query, key}, score);
      if (!score.isSeen) score.masked = -INFINITY;
    }
    return scores;
  }
};

/// Weights of a row: exp(score - largest) / sum. False, and all 0, where no key is seen. The sink adds to the sum; none
/// is -infinity.
bool normalise(std::vector<Score>& scores, double sink) {
  double largest = sink;
  for (const Score& score : scores)
    if (!(score.masked <= largest)) largest = std::isnan(largest) ? largest : score.masked;
  if (largest == -INFINITY) return false;
  double sum = sink == -INFINITY ? 0 : std::exp(sink - largest);
  for (Score& score : scores) sum += score.weight = score.isSeen ? std::exp(score.masked - largest) : 0;
  for (Score& score : scores) score.weight /= sum;
  return true;
}

void prepare(const OracleArgs& args, const Oracle& node) {
  for (OracleTensor& output : args.outputs) {
    output.terms = node.q.size() + node.k.count();
    if (args.wantMagnitude) output.magnitude.assign(output.real.size(), 0.0);
  }
}

/// A row whose query sees some key. `scores` are those of the values from `first` on.
void storeRow(const OracleArgs& args, const Oracle& node, const std::vector<Score>& scores, const Rows& values,
              int64_t first, const Coordinates& at) {
  const auto [batch, head, query] = std::array{at[0], at[1], at[2]};
  OracleTensor& y = args.output();
  const int64_t size = node.v.size();
  double seen = 0;
  for (const Score& score : scores) seen += score.weight;
  const double sink = node.sinkOf(head),
               sinkDoubt = std::isfinite(sink) ? std::max(1 - seen, 0.0) * std::fabs(sink) : 0;
  for (int64_t d = 0; d < size; ++d) {
    double sum = 0, magnitude = 0;
    for (size_t j = 0; j < scores.size(); ++j)
      if (scores[j].isSeen) sum += scores[j].weight * values[static_cast<size_t>(first) + j][static_cast<size_t>(d)];
    const size_t element = node.q.isPacked() ? elementAt(y.shape(), {batch, query, head * size + d})
                                             : elementAt(y.shape(), {batch, head, query, d});
    y.real[element] = sum;
    if (!args.wantMagnitude) continue;
    // A score's error moves weight towards its value or away from it.
    for (size_t j = 0; j < scores.size(); ++j) {
      const double value = values[static_cast<size_t>(first) + j][static_cast<size_t>(d)];
      if (scores[j].isSeen && scores[j].weight > 0)
        magnitude += scores[j].weight * (std::fabs(value) + scores[j].doubt * std::fabs(value - sum));
    }
    magnitude += sinkDoubt * std::fabs(sum);  // its value is 0
    y.magnitude[element] = magnitude;
  }
}

void storeScores(const OracleArgs& args, const std::vector<Score>& row, Scores which, const Coordinates& at) {
  OracleTensor& out = args.output(3);
  double doubt = 0;
  for (const Score& score : row) doubt += score.weight * score.doubt;
  for (size_t j = 0; j < row.size(); ++j) {
    const Score& score = row[j];
    const size_t element = elementAt(out.shape(), {at[0], at[1], at[2], static_cast<int64_t>(j)});
    const bool isWeight = which == Scores::Softmax;
    out.real[element] = isWeight                   ? score.weight
                        : which == Scores::Product ? score.product
                        : which == Scores::Capped  ? score.capped
                                                   : score.masked;
    if (args.wantMagnitude) out.magnitude[element] = isWeight ? score.weight * (1 + score.doubt + doubt) : score.doubt;
  }
}

void run(const OracleArgs& args, const Oracle& node, Scores which) {
  prepare(args, node);
  for (int64_t batch = 0; batch < node.q.x->shape()[0]; ++batch)
    for (int64_t head = 0; head < node.q.heads; ++head) {
      const int64_t kvHead = head * node.k.heads / node.q.heads;
      const Rows queries = node.q.rowsOf(batch, head);
      const Rows keys = node.k.rowsOf(batch, kvHead), values = node.v.rowsOf(batch, kvHead);
      for (int64_t query = 0; query < node.q.added(); ++query) {
        const bool wantsScores = args.outputs.size() > 3;
        const KeyRange range = wantsScores ? KeyRange{0, node.k.count()} : node.seenBy(batch, query);
        std::vector<Score> scores = node.scoresOf(batch, head, query, queries[static_cast<size_t>(query)], keys, range);
        if (normalise(scores, node.sinkOf(head)))
          storeRow(args, node, scores, values, range.first, {batch, head, query});
        if (wantsScores) storeScores(args, scores, which, {batch, head, query});
      }
    }
}

void storePresent(const Tokens& tokens, OracleTensor& present) {
  forEachCoordinates(present.shape(),
                     [&](size_t i, const Coordinates& at) { present.real[i] = tokens.at(at[0], at[1], at[2], at[3]); });
}

template <class Params>
Oracle oracleOf(const OracleArgs& args, const Params& params) {
  Oracle node{.q = {&args.input(0), headsOfOracle(args.input(0), params.q_heads)},
              .k = {&args.input(1), headsOfOracle(args.input(1), params.kv_heads)},
              .v = {&args.input(2), headsOfOracle(args.input(2), params.kv_heads)}};
  if (args.hasInput(3)) node.mask = &args.input(3);
  node.left = params.left;
  node.right = params.right;
  node.softcap = static_cast<double>(params.softcap);
  node.scale = params.scale.has_value() ? static_cast<double>(*params.scale)
                                        : std::pow(static_cast<double>(node.q.size()), -0.5);
  return node;
}

}  // namespace

Status fusedReference(const OracleArgs& args) {
  const auto params = args.params<FusedAttentionParams>();
  Oracle node = oracleOf(args, params);
  node.past = params.past;
  if (args.hasInput(4)) node.lengths = &args.input(4);
  if (args.hasInput(5)) node.sink = &args.input(5);
  run(args, node, Scores::Product);
  return Status::ok();
}

Status reference(const OracleArgs& args) {
  const auto params = args.params<AttentionParams>();
  Oracle node = oracleOf(args, params);
  if (args.hasInput(4)) node.k.past = &args.input(4);
  if (args.hasInput(5)) node.v.past = &args.input(5);
  if (args.hasInput(6)) node.lengths = &args.input(6);
  node.past = node.k.cached();
  run(args, node, params.scores);
  if (args.outputs.size() > 1) storePresent(node.k, args.output(1));
  if (args.outputs.size() > 2) storePresent(node.v, args.output(2));
  return Status::ok();
}

Status scoresReference(const OracleArgs& args) {
  const auto params = args.params<AttentionScoresParams>();
  const Tokens q{&args.input(0), headsOfOracle(args.input(0), params.q_heads)};
  const Tokens k{&args.input(1), args.input(1).shape()[1]};
  const double scale =
      params.scale.has_value() ? static_cast<double>(*params.scale) : std::pow(static_cast<double>(q.size()), -0.5);
  OracleTensor& scores = args.output();
  scores.terms = q.size();
  if (args.wantMagnitude) scores.magnitude.assign(scores.real.size(), 0.0);
  for (int64_t batch = 0; batch < scores.shape()[0]; ++batch)
    for (int64_t head = 0; head < q.heads; ++head) {
      const Rows queries = q.rowsOf(batch, head), keys = k.rowsOf(batch, head * k.heads / q.heads);
      for (size_t row = 0; row < queries.size(); ++row)
        for (size_t key = 0; key < keys.size(); ++key) {
          const size_t i =
              elementAt(scores.shape(), {batch, head, static_cast<int64_t>(row), static_cast<int64_t>(key)});
          double magnitude = 0;
          for (size_t d = 0; d < keys[key].size(); ++d) {
            const double term = queries[row][d] * keys[key][d] * scale;
            scores.real[i] += term;
            magnitude += std::fabs(term);
          }
          if (args.wantMagnitude) scores.magnitude[i] = magnitude;
        }
    }
  return Status::ok();
}

Status valuesReference(const OracleArgs& args) {
  const OracleTensor &weights = args.input(0), &v = args.input(1);
  OracleTensor& y = args.output();
  const int64_t keys = v.shape()[2];
  y.terms = keys;
  if (args.wantMagnitude) y.magnitude.assign(y.real.size(), 0.0);
  forEachCoordinates(y.shape(), [&](size_t i, const Coordinates& at) {
    for (int64_t key = 0; key < keys; ++key) {
      const int64_t head = at[1] * v.shape()[1] / weights.shape()[1];
      const double term = weights.real[elementAt(weights.shape(), {at[0], at[1], at[2], key})] *
                          v.real[elementAt(v.shape(), {at[0], head, key, at[3]})];
      y.real[i] += term;
      if (args.wantMagnitude) y.magnitude[i] += std::fabs(term);
    }
  });
  return Status::ok();
}

}  // namespace opkit::ops::attention
