// The rules of MultiHeadAttention, Attention and QAttention: the networks that they make, against plain loops.
#include "ops/com_microsoft/plain_attention.h"

namespace opkit::ops::com_microsoft {
namespace {

using features::refusalOf;

TEST(ComMicrosoftAttention, BiasMaskPastAndAttentionBiasAdd) {
  constexpr int64_t kPast = 2;
  const Array q = wave({2, 3, 8}, 1), k = wave({2, 3, 8}, 2), v = wave({2, 3, 12}, 3), bias = wave({28}, 4);
  const Array pastKey = wave({2, 2, kPast, 4}, 5), pastValue = wave({2, 2, kPast, 6}, 6), more = wave({1, 2, 3, 5}, 7);
  const std::vector<int32_t> mask{0, 1, 1, 1, 1, 1, 1, 0, 1, 1};
  NodeCase test("MultiHeadAttention", {tensorOf(q), tensorOf(k), tensorOf(v), tensorOf(bias), integers({2, 5}, mask),
                                       tensorOf(more), tensorOf(pastKey), tensorOf(pastValue)});
  test.node.integer = {{"num_heads", 2}, {"unidirectional", 1}};
  test.node.number = {{"scale", 0.75f}, {"mask_filter_value", -2.5f}};
  const Array keys = behind(pastKey, byHeads(plusBias(k, bias, 8), 2));
  const Array values = behind(pastValue, byHeads(plusBias(v, bias, 16), 2));
  const Array y = attend(byHeads(plusBias(q, bias, 0), 2), keys, values, 0.75,
                         [&](int64_t b, int64_t h, int64_t query, int64_t key) {
                           if (key > kPast + query) return kHidden;
                           return more.at({0, h, query, key}) + (mask[static_cast<size_t>(b * 5 + key)] > 0 ? 0 : -2.5);
                         });
  test.expect({y, keys, values});
}

TEST(ComMicrosoftAttention, MasksAreLengthsOrKeysOrQueriesAndKeys) {
  const Array q = wave({2, 2, 8}, 1), k = wave({2, 3, 8}, 2), v = wave({2, 3, 8}, 3);
  const auto expectMask = [&](const Tensor& mask, const std::function<bool(int64_t, int64_t, int64_t)>& isSeen) {
    NodeCase test("MultiHeadAttention", {tensorOf(q), tensorOf(k), tensorOf(v), std::nullopt, mask});
    test.node.integer["num_heads"] = 2;
    test.node.number["mask_filter_value"] = -100;  // a larger one takes digits from the scores
    test.expect(
        {attend(byHeads(q, 2), byHeads(k, 2), byHeads(v, 2), 0.5,
                [&](int64_t b, int64_t, int64_t query, int64_t key) { return isSeen(b, query, key) ? 0.0 : -100.0; })});
  };
  expectMask(integers({2}, {1, 3}), [](int64_t b, int64_t, int64_t key) { return key < (b == 0 ? 1 : 3); });
  // No key of the first sample is seen: all count alike.
  expectMask(integers({2, 3}, {0, 0, 0, 1, 0, 2}), [](int64_t b, int64_t, int64_t key) { return b == 1 && key != 1; });
  expectMask(integers({2, 2, 3}, {1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1}), [](int64_t b, int64_t query, int64_t key) {
    return b == 0 ? key == query : query == 0 ? key < 2 : key == 2;
  });
}

/// [batch, tokens, heads, parts, size], part by part as [batch, heads, tokens, size].
Array partOf(const Array& packed, int64_t part) {
  const Shape& from = packed.shape;
  Array y({from[0], from[2], from[1], from[4]});
  for (int64_t b = 0; b < from[0]; ++b)
    for (int64_t t = 0; t < from[1]; ++t)
      for (int64_t h = 0; h < from[2]; ++h)
        for (int64_t i = 0; i < from[4]; ++i) y.at({b, h, t, i}) = packed.at({b, t, h, part, i});
  return y;
}

TEST(ComMicrosoftAttention, KeysAndQueriesMayBePacked) {
  const Array q = wave({2, 3, 8}, 1), kv = wave({2, 5, 2, 2, 4}, 2);
  NodeCase keys("MultiHeadAttention", {tensorOf(q), tensorOf(kv)});
  keys.node.integer["num_heads"] = 2;
  keys.expect({attend(byHeads(q, 2), partOf(kv, 0), partOf(kv, 1), 0.5, nothingAdded)});

  const Array all = wave({2, 3, 2, 3, 4}, 3), bias = wave({24}, 4);
  NodeCase queries("MultiHeadAttention", {tensorOf(all), std::nullopt, std::nullopt, tensorOf(bias)});
  queries.node.integer = {{"num_heads", 2}, {"unidirectional", 1}};
  Array parts[3] = {partOf(all, 0), partOf(all, 1), partOf(all, 2)};
  for (int64_t p = 0; p < 3; ++p)
    for (int64_t i = 0; i < 48; ++i) {
      const int64_t head = i / 12 % 2;
      parts[p].values[static_cast<size_t>(i)] += bias.values[static_cast<size_t>(p * 8 + head * 4 + i % 4)];
    }
  const auto causal = [](int64_t, int64_t, int64_t query, int64_t key) { return key > query ? kHidden : 0.0; };
  queries.expect({attend(parts[0], parts[1], parts[2], 0.5, causal), parts[1], parts[2]});
}

TEST(ComMicrosoftAttention, KeysMayBeByHeads) {
  const Array q = wave({2, 3, 8}, 1), k = wave({2, 2, 5, 4}, 2), v = wave({2, 2, 5, 3}, 3);
  NodeCase test("MultiHeadAttention", {tensorOf(q), tensorOf(k), tensorOf(v)});
  test.node.integer["num_heads"] = 2;
  test.expect({attend(byHeads(q, 2), k, v, 0.5, nothingAdded)});
}

TEST(ComMicrosoftAttention, KeysByHeadsHaveTheirBias) {
  // The bias of keys and values is not 0, so that adding it would show.
  const Array q = wave({2, 3, 8}, 1), k = wave({2, 2, 5, 4}, 2), v = wave({2, 2, 5, 3}, 3), bias = wave({22}, 4);
  NodeCase test("MultiHeadAttention", {tensorOf(q), tensorOf(k), tensorOf(v), tensorOf(bias)});
  test.node.integer["num_heads"] = 2;
  test.expect({attend(byHeads(plusBias(q, bias, 0), 2), k, v, 0.5, nothingAdded)});
}

TEST(ComMicrosoftAttention, ScoresHaveTheMask) {
  const Array q = wave({2, 3, 8}, 1), k = wave({2, 5, 8}, 2), v = wave({2, 5, 8}, 3);
  const Array heads = byHeads(q, 2), keys = byHeads(k, 2), values = byHeads(v, 2);
  const auto added = [](int64_t b, int64_t, int64_t, int64_t key) { return key < (b == 0 ? 5 : 2) ? 0.0 : -2.0; };
  NodeCase test("MultiHeadAttention", {tensorOf(q), tensorOf(k), tensorOf(v), std::nullopt, integers({2}, {5, 2})});
  test.node.integer["num_heads"] = 2;
  test.node.number["mask_filter_value"] = -2;
  Array scores({2, 2, 3, 5});
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t h = 0; h < 2; ++h)
      for (int64_t s = 0; s < 3; ++s)
        for (int64_t t = 0; t < 5; ++t) {
          scores.at({b, h, s, t}) = added(b, h, s, t);
          for (int64_t i = 0; i < 4; ++i)
            scores.at({b, h, s, t}) += 0.5 * heads.at({b, h, s, i}) * keys.at({b, h, t, i});
        }
  test.expect({attend(heads, keys, values, 0.5, added), keys, values, scores});
}

TEST(ComMicrosoftAttention, MultiHeadAttentionRefuses) {
  const Tensor x = tensorOf(wave({2, 3, 8}, 1)), one = integers({1}, {1});
  NodeCase shared("MultiHeadAttention",
                  {x, x, x, std::nullopt, std::nullopt, std::nullopt, std::nullopt, std::nullopt, one});
  shared.node.integer["num_heads"] = 2;
  EXPECT_EQ(refusalOf(shared.node), "the input past_sequence_length must be absent");
  NodeCase packed("MultiHeadAttention", {x, tensorOf(wave({2, 3, 2, 2, 4}, 1)), std::nullopt, x});
  packed.node.integer["num_heads"] = 2;
  EXPECT_EQ(refusalOf(packed.node), "bias must be absent where keys and values are packed");
  NodeCase keyless("MultiHeadAttention", {x, std::nullopt, x});
  keyless.node.integer["num_heads"] = 2;
  EXPECT_EQ(refusalOf(keyless.node), "value needs a key, which is absent");
  NodeCase headless("MultiHeadAttention", {x, x, x});
  EXPECT_EQ(refusalOf(headless.node), "MultiHeadAttention: attribute num_heads is missing");
  headless.node.integer["num_heads"] = 0;
  EXPECT_EQ(refusalOf(headless.node), "num_heads must be in [1, 1048576], got 0");
  // Ends and starts.
  NodeCase both("MultiHeadAttention", {x, x, x, std::nullopt, integers({4}, {3, 3, 0, 1})});
  both.node.integer["num_heads"] = 2;
  EXPECT_NE(both.runRefusal().find("mask must broadcast to [2,2,3,3], got [4,1,1,3]"), std::string::npos)
      << both.runRefusal();
}

TEST(ComMicrosoftAttention, LengthsMayComeWithSums) {
  // Lengths, then sums of the lengths of queries and of keys: what runs with packed tokens reads beside the lengths.
  const Array q = wave({3, 2, 8}, 1), k = wave({3, 4, 8}, 2), v = wave({3, 4, 8}, 3);
  const std::vector<int32_t> mask{4, 1, 2, 0, 2, 4, 6, 0, 4, 5, 7};
  NodeCase test("MultiHeadAttention", {tensorOf(q), tensorOf(k), tensorOf(v), std::nullopt, integers({11}, mask)});
  test.node.integer["num_heads"] = 2;
  test.node.number["mask_filter_value"] = -100;
  test.expect({attend(byHeads(q, 2), byHeads(k, 2), byHeads(v, 2), 0.5, [&](int64_t b, int64_t, int64_t, int64_t key) {
    return key < mask[static_cast<size_t>(b)] ? 0.0 : -100.0;
  })});
}

/// x [batch, tokens, in] times w [in, out], plus the bias.
Array projected(const Array& x, const Array& w, const Array& bias) {
  Array y({x.shape[0], x.shape[1], w.shape[1]});
  for (int64_t b = 0; b < x.shape[0]; ++b)
    for (int64_t t = 0; t < x.shape[1]; ++t)
      for (int64_t o = 0; o < w.shape[1]; ++o) {
        double& sum = y.at({b, t, o}) = bias.at({o});
        for (int64_t i = 0; i < w.shape[0]; ++i) sum += x.at({b, t, i}) * w.at({i, o});
      }
  return y;
}

/// Columns `first` to before `first + count` of [batch, tokens, columns].
Array columns(const Array& x, int64_t first, int64_t count) {
  Array y({x.shape[0], x.shape[1], count});
  for (int64_t b = 0; b < x.shape[0]; ++b)
    for (int64_t t = 0; t < x.shape[1]; ++t)
      for (int64_t i = 0; i < count; ++i) y.at({b, t, i}) = x.at({b, t, first + i});
  return y;
}

TEST(ComMicrosoftAttention, AttentionProjectsAndKeepsWhatItSaw) {
  const Array x = wave({2, 3, 5}, 1), w = wave({5, 24}, 2), bias = wave({24}, 3), past = wave({2, 2, 2, 4, 4}, 4);
  const std::vector<int32_t> mask{7, 5};
  NodeCase test("Attention", {tensorOf(x), tensorOf(w), tensorOf(bias), integers({2}, mask), tensorOf(past)});
  test.node.integer = {{"num_heads", 2}, {"unidirectional", 1}};
  const Array all = projected(x, w, bias);
  Array pastKey({2, 2, 4, 4}), pastValue({2, 2, 4, 4});
  std::copy_n(past.values.begin(), 64, pastKey.values.begin());
  std::copy_n(past.values.begin() + 64, 64, pastValue.values.begin());
  const Array keys = behind(pastKey, byHeads(columns(all, 8, 8), 2));
  const Array values = behind(pastValue, byHeads(columns(all, 16, 8), 2));
  Array present({2, 2, 2, 7, 4});
  std::ranges::copy(keys.values, present.values.begin());
  std::ranges::copy(values.values, present.values.begin() + static_cast<int64_t>(keys.values.size()));
  test.expect({attend(byHeads(columns(all, 0, 8), 2), keys, values, 0.5,
                      [&](int64_t b, int64_t, int64_t query, int64_t key) {
                        if (key > query + 4) return kHidden;
                        return key < mask[static_cast<size_t>(b)] ? 0.0 : -10000.0;
                      }),
               present});
}

TEST(ComMicrosoftAttention, MasksMayBeEndsAndStartsOrLengthsAndSums) {
  const Array x = wave({2, 4, 5}, 1), w = wave({5, 24}, 2), bias = wave({24}, 3), all = projected(x, w, bias);
  const auto expectMask = [&](const Tensor& mask, const std::function<bool(int64_t, int64_t)>& isSeen) {
    NodeCase test("Attention", {tensorOf(x), tensorOf(w), tensorOf(bias), mask});
    test.node.integer["num_heads"] = 2;
    test.node.number["mask_filter_value"] = -100;
    test.expect({attend(byHeads(columns(all, 0, 8), 2), byHeads(columns(all, 8, 8), 2), byHeads(columns(all, 16, 8), 2),
                        0.5, [&](int64_t b, int64_t, int64_t, int64_t key) { return isSeen(b, key) ? 0.0 : -100.0; })});
  };
  expectMask(integers({4}, {4, 3, 1, 2}), [](int64_t b, int64_t key) { return b == 0 ? key >= 1 : key == 2; });
  // An end before its start leaves no key: all count alike.
  expectMask(integers({4}, {2, 9, 3, -1}), [](int64_t b, int64_t) { return b == 1; });
  expectMask(integers({8}, {4, 2, 0, 4, 8, 0, 4, 6}), [](int64_t b, int64_t key) { return b == 0 || key < 2; });
}

TEST(ComMicrosoftAttention, AMaskOfOneKeyHidesNothing) {
  const Array x = wave({2, 4, 5}, 1), w = wave({5, 24}, 2), bias = wave({24}, 3), all = projected(x, w, bias);
  for (const Tensor& mask : {integers({2, 1}, {0, 1}), integers({1, 1}, {0})}) {
    NodeCase test("Attention", {tensorOf(x), tensorOf(w), tensorOf(bias), mask});
    test.node.integer["num_heads"] = 2;
    test.node.number["mask_filter_value"] = -1e30f;  // no digit of a score would be left
    test.expect({attend(byHeads(columns(all, 0, 8), 2), byHeads(columns(all, 8, 8), 2), byHeads(columns(all, 16, 8), 2),
                        0.5, nothingAdded)});
  }
}

TEST(ComMicrosoftAttention, TheLengthOfOneSampleIsNoMaskOfOneKey) {
  const Array q = wave({1, 2, 8}, 1), k = wave({1, 3, 8}, 2), v = wave({1, 3, 8}, 3);
  NodeCase test("MultiHeadAttention", {tensorOf(q), tensorOf(k), tensorOf(v), std::nullopt, integers({1}, {2})});
  test.node.integer["num_heads"] = 2;
  test.node.number["mask_filter_value"] = -100;
  test.expect({attend(byHeads(q, 2), byHeads(k, 2), byHeads(v, 2), 0.5,
                      [](int64_t, int64_t, int64_t, int64_t key) { return key < 2 ? 0.0 : -100.0; })});
}

TEST(ComMicrosoftAttention, MasksOfOtherShapesAreRefused) {
  const Tensor x = tensorOf(wave({2, 4, 5}, 1)), w = tensorOf(wave({5, 24}, 2));
  const auto expectRefusal = [&](const Shape& shape, const std::string& message) {
    const std::vector<int32_t> ones(static_cast<size_t>(elementCount(shape)), 1);
    NodeCase test("Attention", {x, w, std::nullopt, integers(shape, ones)});
    test.node.integer["num_heads"] = 2;
    const std::string refusal = test.runRefusal();
    EXPECT_NE(refusal.find(message), std::string::npos) << toString(shape) << ": " << refusal;
  };
  expectRefusal({3}, "mask must broadcast to [2,2,4,4], got [3,1,1,4]");
  expectRefusal({7}, "mask must broadcast to [2,2,4,4], got [7,1,1,4]");
  // As many rows as lists of lengths have elements.
  expectRefusal({4, 4}, "mask must broadcast to [2,2,4,4], got [4,1,1,4]");
  expectRefusal({8, 4}, "mask must broadcast to [2,2,4,4], got [8,1,1,4]");
}

TEST(ComMicrosoftAttention, SizesOfTheProjectionsMayDiffer) {
  const Array x = wave({1, 3, 5}, 1), w = wave({5, 36}, 2), bias = wave({36}, 3);
  NodeCase test("Attention", {tensorOf(x), tensorOf(w), tensorOf(bias)});
  test.node.integer["num_heads"] = 2;
  test.node.integers["qkv_hidden_sizes"] = {8, 8, 20};  // not what three equal parts would be
  const Array all = projected(x, w, bias);
  test.expect({attend(byHeads(columns(all, 0, 8), 2), byHeads(columns(all, 8, 8), 2), byHeads(columns(all, 16, 20), 2),
                      0.5, nothingAdded)});
  test.node.integers["qkv_hidden_sizes"] = {8, 28};
  EXPECT_EQ(refusalOf(test.node), "qkv_hidden_sizes must list 3 sizes, got 2");
}

TEST(ComMicrosoftAttention, AttentionRefuses) {
  const Tensor x = tensorOf(wave({1, 3, 5}, 1)), w = tensorOf(wave({5, 24}, 2));
  for (const char* name : {"do_rotary", "past_present_share_buffer"}) {
    NodeCase test("Attention", {x, w});
    test.node.integer = {{"num_heads", 2}, {name, 1}};
    EXPECT_EQ(refusalOf(test.node), fmt::format("Attention: {} must be 0, got 1", name));
  }
  NodeCase length("Attention", {x, w, std::nullopt, std::nullopt, std::nullopt, std::nullopt, integers({1}, {1})});
  length.node.integer["num_heads"] = 2;
  EXPECT_EQ(refusalOf(length.node), "the input past_sequence_length must be absent");
}

TEST(ComMicrosoftAttention, QuantisedProjectionsAreScaledByColumn) {
  std::vector<uint8_t> x, w;
  for (int i = 0; i < 15; ++i) x.push_back(static_cast<uint8_t>(i * 37 % 256));
  for (int i = 0; i < 5 * 24; ++i) w.push_back(static_cast<uint8_t>(i * 91 % 256));
  const Array bias = wave({24}, 1), scales = wave({24}, 2);
  Array real({1, 3, 5}), weights({5, 24});
  for (size_t i = 0; i < x.size(); ++i) real.values[i] = 0.5 * (x[i] - 100);
  for (size_t i = 0; i < w.size(); ++i) weights.values[i] = scales.values[i % 24] / 64 * (w[i] - 90);
  Array small = scales;
  for (double& scale : small.values) scale /= 64;
  NodeCase test("QAttention", {features::tensor(DType::UInt8, {1, 3, 5}, x), features::tensor(DType::UInt8, {5, 24}, w),
                               tensorOf(bias), features::floats({}, {0.5f}), tensorOf(small), std::nullopt,
                               features::tensor<uint8_t>(DType::UInt8, {}, {100}),
                               features::tensor<uint8_t>(DType::UInt8, {}, {90})});
  test.node.integer["num_heads"] = 2;
  test.node.number["scale"] = 1.0f / 1024;
  const Array all = projected(real, weights, bias);
  test.expect({attend(byHeads(columns(all, 0, 8), 2), byHeads(columns(all, 8, 8), 2), byHeads(columns(all, 16, 8), 2),
                      1.0 / 1024, nothingAdded)});
}

}  // namespace
}  // namespace opkit::ops::com_microsoft
