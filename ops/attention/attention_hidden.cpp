// Which elements of Attention are hidden, written from attention.md: keys and values that no query of their heads sees,
// and queries that see no key.
#include <cmath>
#include <optional>

#include "engine/op/oracle_elements.h"
#include "ops/attention/attention_parts.h"

namespace opkit::ops::attention {
namespace {

enum Input : size_t { kQ, kK, kV, kMask };

/// What decides whether a query sees a key.
struct Sight {
  const OracleTensor* mask = nullptr;
  const OracleTensor* lengths = nullptr;
  int64_t left = -1, right = -1, past = 0, queries = 0;

  bool byPosition(int64_t batch, int64_t query, int64_t key) const {
    const int64_t length = lengths ? lengths->integer[static_cast<size_t>(batch)] : 0;
    if (lengths && key >= length) return false;
    const int64_t position = query + (lengths ? length - queries : past);
    return (left < 0 || position - key <= left) && (right < 0 || key - position <= right);
  }
  bool byMask(const Coordinates& at) const {
    if (!mask) return true;
    const int64_t keys = mask->shape().empty() ? 1 : mask->shape().back();
    if (keys != 1 && at.back() >= keys) return false;
    const size_t element = broadcastElementAt(mask->shape(), at);
    if (mask->isReal()) return mask->real[element] != -INFINITY;
    return mask->desc.dtype != DType::Bool || mask->integer[element] != 0;
  }
};

/// q, k, v or a cache, whose heads may lie inside the last axis.
struct Slots {
  Shape shape;
  int64_t heads = 1;

  Slots(const OracleTensor& x, int64_t packedHeads)
      : shape(x.shape()), heads(shape.size() == 4 ? shape[1] : packedHeads) {}
  bool isPacked() const { return shape.size() == 3; }
  int64_t tokens() const { return shape[isPacked() ? 1 : 2]; }
  int64_t size() const { return isPacked() ? shape[2] / heads : shape[3]; }

  void mark(std::vector<bool>& hidden, int64_t batch, int64_t head, int64_t token) const {
    hidden.resize(static_cast<size_t>(elementCount(shape)));
    for (int64_t d = 0; d < size(); ++d)
      hidden[isPacked() ? elementAt(shape, {batch, token, head * size() + d})
                        : elementAt(shape, {batch, head, token, d})] = true;
  }
};

/// The inputs that hold one kind of tokens: those of a cache come first.
struct Sequence {
  size_t own;
  std::optional<size_t> cache = std::nullopt;
};

struct Node {
  const OracleArgs& args;
  int64_t qHeads, kvHeads;
  Sight sight;
  bool namesQueries = true, namesKeys = true, namesValues = true;

  Slots slots(size_t input) const { return {args.input(input), input == kQ ? qHeads : kvHeads}; }
  int64_t cached(const Sequence& from) const { return from.cache ? slots(*from.cache).tokens() : 0; }

  void mark(HiddenElements& hidden, const Sequence& from, int64_t batch, int64_t head, int64_t token) const {
    const int64_t before = cached(from);
    const size_t input = token < before ? *from.cache : from.own;
    slots(input).mark(hidden[input], batch, head, token < before ? token : token - before);
  }
};

/// The keys that some query of a head of keys sees; names the queries that see none.
std::vector<bool> seenKeys(const Node& node, int64_t batch, int64_t kvHead, size_t keys, HiddenElements& hidden) {
  std::vector<bool> isSeen(keys);
  const Slots q = node.slots(kQ);
  const int64_t group = q.heads / node.slots(kK).heads;
  for (int64_t head = kvHead * group; head < (kvHead + 1) * group; ++head)
    for (int64_t query = 0; query < q.tokens(); ++query) {
      bool seesAny = false;
      for (size_t key = 0; key < keys; ++key) {
        const auto at = static_cast<int64_t>(key);
        if (!node.sight.byPosition(batch, query, at) || !node.sight.byMask({batch, head, query, at})) continue;
        seesAny = isSeen[key] = true;
      }
      if (!seesAny && node.namesQueries) q.mark(hidden[kQ], batch, head, query);
    }
  return isSeen;
}

HiddenElements hiddenOf(const Node& node, const Sequence& keys, const Sequence& values) {
  HiddenElements hidden(node.args.inputs.size());
  const auto count = static_cast<size_t>(node.cached(keys) + node.slots(keys.own).tokens());
  for (int64_t batch = 0; batch < node.slots(kQ).shape[0]; ++batch)
    for (int64_t head = 0; head < node.slots(kK).heads; ++head) {
      const std::vector<bool> isSeen = seenKeys(node, batch, head, count, hidden);
      for (size_t key = 0; key < count; ++key) {
        if (isSeen[key]) continue;
        if (node.namesKeys) node.mark(hidden, keys, batch, head, static_cast<int64_t>(key));
        if (node.namesValues) node.mark(hidden, values, batch, head, static_cast<int64_t>(key));
      }
    }
  return hidden;
}

}  // namespace

HiddenElements fusedHidden(const OracleArgs& args) {
  const auto params = args.params<FusedAttentionParams>();
  Node node{args, params.q_heads, params.kv_heads, {}};
  node.sight = {.left = params.left, .right = params.right, .past = params.past};
  node.sight.queries = node.slots(kQ).tokens();
  if (args.hasInput(kMask)) node.sight.mask = &args.input(kMask);
  if (args.hasInput(4)) node.sight.lengths = &args.input(4);
  return hiddenOf(node, {kK}, {kV});
}

/// Present keys and values are copies of all, and stored products are made of all queries.
HiddenElements hidden(const OracleArgs& args) {
  const auto params = args.params<AttentionParams>();
  Node node{args, params.q_heads, params.kv_heads, {}};
  node.sight = {.left = params.left, .right = params.right};
  node.sight.queries = node.slots(kQ).tokens();
  if (args.hasInput(kMask)) node.sight.mask = &args.input(kMask);
  if (args.hasInput(6)) node.sight.lengths = &args.input(6);
  const Sequence keys{kK, args.hasInput(4) ? std::optional<size_t>(4) : std::nullopt};
  const Sequence values{kV, args.hasInput(5) ? std::optional<size_t>(5) : std::nullopt};
  node.sight.past = node.cached(keys);
  node.namesKeys = args.outputs.size() < 2;
  node.namesValues = args.outputs.size() < 3;
  node.namesQueries = args.outputs.size() < 4;
  return hiddenOf(node, keys, values);
}

}  // namespace opkit::ops::attention
