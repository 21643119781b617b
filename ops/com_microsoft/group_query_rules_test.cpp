// The rules of GroupQueryAttention and RotaryEmbedding: the networks that they make, against plain loops.
#include "ops/com_microsoft/plain_attention.h"

namespace opkit::ops::com_microsoft {
namespace {

using features::refusalOf;

/// x [batch, heads, tokens, size] with pairs turned by the rows of the caches [positions, pairs] at the places of
/// tokens.
Array turned(const Array& x, const Array& cosines, const Array& sines, bool interleaved,
             const std::function<int64_t(int64_t, int64_t)>& placeOf) {
  const int64_t pairs = cosines.shape[1];
  Array y = x;
  for (int64_t b = 0; b < x.shape[0]; ++b)
    for (int64_t h = 0; h < x.shape[1]; ++h)
      for (int64_t t = 0; t < x.shape[2]; ++t)
        for (int64_t i = 0; i < pairs; ++i) {
          const int64_t first = interleaved ? 2 * i : i, second = interleaved ? 2 * i + 1 : i + pairs;
          const double c = cosines.at({placeOf(b, t), i}), s = sines.at({placeOf(b, t), i});
          y.at({b, h, t, first}) = c * x.at({b, h, t, first}) - s * x.at({b, h, t, second});
          y.at({b, h, t, second}) = s * x.at({b, h, t, first}) + c * x.at({b, h, t, second});
        }
  return y;
}

/// The new tokens [batch, heads, tokens, size] in a copy of the buffer, extended to `extent` tokens with 0.
Array written(const Array& buffer, const Array& added, const std::vector<int64_t>& places, int64_t extent) {
  Array y({added.shape[0], added.shape[1], extent, added.shape[3]});
  for (int64_t b = 0; b < y.shape[0]; ++b)
    for (int64_t h = 0; h < y.shape[1]; ++h)
      for (int64_t i = 0; i < y.shape[3]; ++i) {
        for (int64_t t = 0; t < buffer.shape[2]; ++t) y.at({b, h, t, i}) = buffer.at({b, h, t, i});
        for (int64_t t = 0; t < added.shape[2]; ++t)
          y.at({b, h, places[static_cast<size_t>(b)] + t, i}) = added.at({b, h, t, i});
      }
  return y;
}

/// A query at a place sees this many keys up to its own; 0: all.
Added visible(const std::vector<int64_t>& past, int64_t window = 0) {
  return [past, window](int64_t b, int64_t, int64_t query, int64_t key) {
    const int64_t place = past[static_cast<size_t>(b)] + query;
    return key > place || (window > 0 && key <= place - window) ? kHidden : 0.0;
  };
}

TEST(ComMicrosoftGroupQuery, TokensGoBehindThoseOfTheirSample) {
  const Array q = wave({2, 1, 16}, 1), k = wave({2, 1, 8}, 2), v = wave({2, 1, 8}, 3);
  const Array pastKey = wave({2, 2, 5, 4}, 4), pastValue = wave({2, 2, 5, 4}, 5);
  const Array cosines = wave({9, 2}, 6), sines = wave({9, 2}, 7);
  const std::vector<int64_t> past{5, 2};
  NodeCase test("GroupQueryAttention", {tensorOf(q), tensorOf(k), tensorOf(v), tensorOf(pastKey), tensorOf(pastValue),
                                        integers({2}, {5, 2}), integers({1}, {6}), tensorOf(cosines), tensorOf(sines)});
  test.node.integer = {{"num_heads", 4}, {"kv_num_heads", 2}, {"do_rotary", 1}, {"local_window_size", 3}};
  test.node.number["scale"] = 2;
  const auto placeOf = [&](int64_t b, int64_t) { return past[static_cast<size_t>(b)]; };
  const Array keys = written(pastKey, turned(byHeads(k, 2), cosines, sines, false, placeOf), past, 6);
  const Array values = written(pastValue, byHeads(v, 2), past, 6);
  test.expect(
      {attend(turned(byHeads(q, 4), cosines, sines, false, placeOf), keys, values, 2, visible(past, 3)), keys, values});
}

TEST(ComMicrosoftGroupQuery, BuffersMayBeLonger) {
  // A buffer of 7 tokens, 3 of them used, and 2 new ones; the rest is not read.
  const Array q = wave({1, 2, 16}, 1), k = wave({1, 2, 8}, 2), v = wave({1, 2, 8}, 3);
  const Array pastKey = wave({1, 2, 7, 4}, 4), pastValue = wave({1, 2, 7, 4}, 5), bias = wave({1, 1, 2, 5}, 6);
  NodeCase test("GroupQueryAttention",
                {tensorOf(q), tensorOf(k), tensorOf(v), tensorOf(pastKey), tensorOf(pastValue), integers({1}, {4}),
                 integers({}, {5}), std::nullopt, std::nullopt, std::nullopt, tensorOf(bias)});
  test.node.integer = {{"num_heads", 4}, {"kv_num_heads", 2}};
  const Array keys = written(pastKey, byHeads(k, 2), {3}, 7), values = written(pastValue, byHeads(v, 2), {3}, 7);
  const Added seen = visible({3});
  test.expect({attend(byHeads(q, 4), keys, values, 0.5,
                      [&](int64_t b, int64_t h, int64_t query, int64_t key) {
                        const double added = seen(b, h, query, key);
                        return added < 0 ? added : bias.at({0, 0, query, key});
                      }),
               keys, values});
}

TEST(ComMicrosoftGroupQuery, PromptsMayBePackedAndStartAtZero) {
  const Array all = wave({2, 3, 4 * 8}, 1), cosines = wave({9, 1}, 6), sines = wave({9, 1}, 7);
  // The second sample has 2 tokens and one behind them; its row of y is not compared.
  const Array pastKey = wave({2, 2, 5, 4}, 2), pastValue = wave({2, 2, 5, 4}, 3);
  NodeCase test("GroupQueryAttention",
                {tensorOf(all), std::nullopt, std::nullopt, tensorOf(pastKey), tensorOf(pastValue),
                 integers({2}, {2, 1}), integers({1}, {3}), tensorOf(cosines), tensorOf(sines)});
  test.node.integer = {{"num_heads", 4}, {"kv_num_heads", 2}, {"do_rotary", 1}, {"rotary_interleaved", 1}};
  test.node.setConstant(7, tensorOf(cosines));
  const auto placeOf = [](int64_t, int64_t t) { return t; };
  const Array heads = byHeads(all, 8);
  Array q({2, 4, 3, 4}), k({2, 2, 3, 4}), v({2, 2, 3, 4});
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t h = 0; h < 8; ++h)
      for (int64_t t = 0; t < 3; ++t)
        for (int64_t i = 0; i < 4; ++i) {
          Array& to = h < 4 ? q : h < 6 ? k : v;
          to.at({b, h < 4 ? h : h % 2, t, i}) = heads.at({b, h, t, i});
        }
  const Array keys = written(pastKey, turned(k, cosines, sines, true, placeOf), {0, 0}, 5);
  const Array values = written(pastValue, v, {0, 0}, 5);
  test.expect({attend(turned(q, cosines, sines, true, placeOf), keys, values, 0.5, visible({0, 0})), keys, values});
}

TEST(ComMicrosoftGroupQuery, PlacesMayBeGivenAndAPromptTakesTheFirst) {
  const Array pastKey = wave({2, 1, 3, 4}, 4), pastValue = wave({2, 1, 3, 4}, 5);
  const Array cosines = wave({9, 2}, 6), sines = wave({9, 2}, 7);
  for (const bool isPrompt : {false, true}) {
    const int64_t tokens = isPrompt ? 2 : 1, past = isPrompt ? 0 : 3;
    const std::vector<int64_t> given = isPrompt ? std::vector<int64_t>{4, 1, 7, 2} : std::vector<int64_t>{8, 2};
    const auto last = static_cast<int32_t>(past + tokens - 1);
    const Array x = wave({2, tokens, 4}, 1);
    NodeCase test("GroupQueryAttention", {tensorOf(x), tensorOf(x), tensorOf(x), tensorOf(pastKey), tensorOf(pastValue),
                                          integers({2}, {last, last}), integers({1}, {last + 1}), tensorOf(cosines),
                                          tensorOf(sines), features::tensor(DType::Int64, {2, tokens}, given)});
    test.node.integer = {{"num_heads", 1}, {"kv_num_heads", 1}, {"do_rotary", 1}};
    const auto placeOf = [&](int64_t b, int64_t t) { return isPrompt ? 4 + t : given[static_cast<size_t>(b)]; };
    const Array heads = byHeads(x, 1), q = turned(heads, cosines, sines, false, placeOf);
    const int64_t extent = isPrompt ? 3 : 4;
    const Array keys = written(pastKey, q, {past, past}, extent),
                values = written(pastValue, heads, {past, past}, extent);
    test.expect({attend(q, keys, values, 0.5, visible({past, past})), keys, values});
  }
}

TEST(ComMicrosoftGroupQuery, CachesThatAreInputsTellHowMuchOfAHeadTurns) {
  const Array q = wave({2, 2, 24}, 1), k = wave({2, 2, 12}, 2), v = wave({2, 2, 12}, 3);
  for (const int64_t pairs : {1, 2, 3})
    for (const bool interleaved : {false, true}) {
      const Array cosines = wave({5, pairs}, 6), sines = wave({5, pairs}, 7);
      NodeCase test("GroupQueryAttention",
                    {tensorOf(q), tensorOf(k), tensorOf(v), std::nullopt, std::nullopt, integers({2}, {1, 1}),
                     integers({1}, {2}), tensorOf(cosines), tensorOf(sines)});
      test.node.integer = {
          {"num_heads", 4}, {"kv_num_heads", 2}, {"do_rotary", 1}, {"rotary_interleaved", interleaved ? 1 : 0}};
      const auto placeOf = [](int64_t, int64_t t) { return t; };
      const Array keys = turned(byHeads(k, 2), cosines, sines, interleaved, placeOf), values = byHeads(v, 2);
      test.expect({attend(turned(byHeads(q, 4), cosines, sines, interleaved, placeOf), keys, values, 1 / std::sqrt(6.0),
                          visible({0, 0})),
                   keys, values});
    }
}

/// The caches of a model that turns long prompts by others: cos_cache and sin_cache are an If on the number of tokens.
struct TwoCaches {
  Array cosines[2] = {wave({9, 1}, 6), wave({9, 1}, 8)}, sines[2] = {wave({9, 1}, 7), wave({9, 1}, 9)};

  /// The caches of more than 4 tokens, or of fewer.
  Model branch(int which) const {
    Model model;
    model.outputs = {model.addConstant("cos", tensorOf(cosines[which])),
                     model.addConstant("sin", tensorOf(sines[which]))};
    return model;
  }
  void choose(features::Node& node) const {
    const TensorId most = node.model.addConstant("most", integers({1}, {4}));
    const TensorId isLong = node.model.addNode("Greater", "isLong", {node.input(6), most})[0];
    const std::vector<TensorId> chosen = node.model.addNode("If", "caches", {isLong}, ParamBytes{}, 2);
    node.model.nodes.back().subgraphs = {{"then_branch", branch(1), {}}, {"else_branch", branch(0), {}}};
    node.replace(7, chosen[0]);
    node.replace(8, chosen[1]);
  }
};

void expectChosenCaches(const std::string& backend) {
  const TensorDesc token{DType::Float32, {1, 1, 4}}, buffer{DType::Float32, {1, 1, 8, 4}};
  features::Node node("GroupQueryAttention",
                      {token, token, token, buffer, buffer, {DType::Int32, {1}}, {DType::Int32, {1}}, token, token});
  node.domain = "com.microsoft::";
  node.integer = {{"num_heads", 1}, {"kv_num_heads", 1}, {"do_rotary", 1}};
  const TwoCaches caches;
  caches.choose(node);
  ASSERT_TRUE(node.import().isOk());
  const Array pastKey = wave({1, 1, 8, 4}, 1), pastValue = wave({1, 1, 8, 4}, 2), x = wave({1, 1, 4}, 3);
  const auto interpreter = *Interpreter::create(node.model, builtinOps());
  const auto session = *interpreter->createSession({.backend = backend, .threads = 1});
  for (const int32_t total : {3, 6, 4}) {
    const auto set = [&](const char* name, const Tensor& value) { convertElements(value, *session->fillInput(name)); };
    for (const char* name : {"x0", "x1", "x2"}) set(name, tensorOf(x));
    set("x3", tensorOf(pastKey));
    set("x4", tensorOf(pastValue));
    set("x5", integers({1}, {total - 1}));
    set("x6", integers({1}, {total}));
    const Status ran = session->run();
    ASSERT_TRUE(ran.isOk()) << ran.toString();
    const size_t which = total > 4 ? 1 : 0;
    const Array head = turned(byHeads(x, 1), caches.cosines[which], caches.sines[which], false,
                              [&](int64_t, int64_t) { return total - 1; });
    const Array y = attend(head, written(pastKey, head, {total - 1}, 8),
                           written(pastValue, byHeads(x, 1), {total - 1}, 8), 0.5, visible({total - 1}));
    features::expectTensor(session->outputs()[0], {y.shape, y.values, 1e-4},
                           fmt::format("{}, total {}", backend, total));
  }
}
TEST(ComMicrosoftGroupQuery, CachesMayBeChosenByAnIf) {
  for (const std::string& backend : features::backends()) expectChosenCaches(backend);
}

/// Softmax with one more score per head: 0 for smooth_softmax, else that of head_sink, which counts with both.
TEST(ComMicrosoftGroupQuery, SinksAddToTheSumOfWeights) {
  const Array q = wave({2, 3, 16}, 1), k = wave({2, 3, 8}, 2), v = wave({2, 3, 8}, 3), bias = wave({2, 1, 3, 3}, 4);
  Array sink({4});
  sink.values = {-1.5, 0.25, 3, -40};
  for (const int64_t smooth : {-1, 0, 1})
    for (const bool isGiven : {false, true}) {
      std::vector<std::optional<Tensor>> inputs(12, std::nullopt);
      inputs[0] = tensorOf(q), inputs[1] = tensorOf(k), inputs[2] = tensorOf(v);
      inputs[5] = integers({2}, {2, 2}), inputs[6] = integers({1}, {3}), inputs[10] = tensorOf(bias);
      if (isGiven) inputs[11] = tensorOf(sink);
      NodeCase test("GroupQueryAttention", inputs);
      test.node.integer = {{"num_heads", 4}, {"kv_num_heads", 2}, {"smooth_softmax", smooth}, {"local_window_size", 2}};
      test.node.number = {{"softcap", 0.5f}, {"scale", 2}};
      std::vector<double> sinks;
      if (isGiven)
        sinks = sink.values;
      else if (smooth == 1)
        sinks = {0, 0, 0, 0};
      const Added seen = visible({0, 0}, 2);
      const Array y = attend(byHeads(q, 4), byHeads(k, 2), byHeads(v, 2), {2, 0.5, sinks},
                             [&](int64_t b, int64_t h, int64_t query, int64_t key) {
                               return seen(b, h, query, key) + bias.at({b, 0, query, key});
                             });
      test.expect({y, byHeads(k, 2), byHeads(v, 2)});
    }
}

/// One token at a time, behind more and less of a buffer, in one session.
void expectTokens(const std::string& backend) {
  // x0 to x2: new tokens; x3, x4: a buffer of 4; x5, x6: the last place and the number of tokens.
  const TensorDesc token{DType::Float32, {1, 1, 4}}, buffer{DType::Float32, {1, 1, 4, 4}};
  features::Node node("GroupQueryAttention",
                      {token, token, token, buffer, buffer, {DType::Int32, {1}}, {DType::Int32, {1}}});
  node.domain = "com.microsoft::";
  node.usedOutputs = 3;
  node.integer = {{"num_heads", 1}, {"kv_num_heads", 1}};
  ASSERT_TRUE(node.import().isOk());
  const Array pastKey = wave({1, 1, 4, 4}, 1), pastValue = wave({1, 1, 4, 4}, 2), k = wave({1, 1, 4}, 3);
  const auto interpreter = *Interpreter::create(node.model, builtinOps());
  const auto session = *interpreter->createSession({.backend = backend, .threads = 1});
  for (const int32_t total : {1, 3, 5, 4}) {
    const auto set = [&](const char* name, const Tensor& value) { convertElements(value, *session->fillInput(name)); };
    for (const char* name : {"x0", "x1", "x2"}) set(name, tensorOf(k));
    set("x3", tensorOf(pastKey));
    set("x4", tensorOf(pastValue));
    set("x5", integers({1}, {total - 1}));
    set("x6", integers({1}, {total}));
    const Status ran = session->run();
    ASSERT_TRUE(ran.isOk()) << ran.toString();
    const int64_t extent = std::max(total, 4);
    const Array keys = written(pastKey, byHeads(k, 1), {total - 1}, extent);
    const Array values = written(pastValue, byHeads(k, 1), {total - 1}, extent);
    const Array y = attend(byHeads(k, 1), keys, values, 0.5, visible({total - 1}));
    const std::string where = fmt::format("{}, total {}", backend, total);
    features::expectTensor(session->outputs()[0], {y.shape, y.values, 1e-4}, where);
    features::expectTensor(session->outputs()[1], {keys.shape, keys.values}, where);
    features::expectTensor(session->outputs()[2], {values.shape, values.values}, where);
  }
}
TEST(ComMicrosoftGroupQuery, OneSessionFollowsTheLengths) {
  for (const std::string& backend : features::backends()) expectTokens(backend);
}

NodeCase groupCase(size_t inputs) {
  const Tensor x = tensorOf(wave({1, 1, 8}, 1)), one = integers({1}, {0});
  std::vector<std::optional<Tensor>> given{x, x, x, std::nullopt, std::nullopt, one, integers({1}, {1})};
  while (given.size() < inputs) given.push_back(std::nullopt);
  if (inputs > 7) given.back() = x;
  NodeCase test("GroupQueryAttention", given);
  test.node.integer = {{"num_heads", 2}, {"kv_num_heads", 2}};
  return test;
}

TEST(ComMicrosoftGroupQuery, Refuses) {
  for (const char* name : {"qk_output", "sliding_window_cache"}) {
    NodeCase test = groupCase(7);
    test.node.integer[name] = 1;
    EXPECT_EQ(refusalOf(test.node), fmt::format("GroupQueryAttention: {} must be 0, got 1", name));
  }
  NodeCase quantised = groupCase(7);
  quantised.node.text["v_quant_type"] = "PER_TENSOR";
  EXPECT_EQ(refusalOf(quantised.node), "v_quant_type must be NONE, got 'PER_TENSOR'");
  NodeCase smooth = groupCase(7);
  smooth.node.integer["smooth_softmax"] = 2;
  EXPECT_EQ(refusalOf(smooth.node), "smooth_softmax must be -1, 0 or 1, got 2");
  constexpr const char* kNames[] = {"k_scale", "v_scale", "q_norm_weight", "k_norm_weight"};
  for (size_t i = 0; i < 4; ++i) {
    NodeCase test = groupCase(13 + i);
    EXPECT_EQ(refusalOf(test.node), fmt::format("the input {} must be absent", kNames[i]));
  }
  NodeCase angles = groupCase(8);
  angles.node.integer["do_rotary"] = 1;
  EXPECT_EQ(refusalOf(angles.node), "do_rotary needs cos_cache and sin_cache");
  for (const auto& [window, causal] : {std::pair{0, 1}, {-2, 1}, {3, 0}}) {
    NodeCase test = groupCase(7);
    test.node.integer["local_window_size"] = window;
    test.node.integer["causal"] = causal;
    EXPECT_EQ(refusalOf(test.node),
              fmt::format("local_window_size must be -1, or 1 or more where causal is 1, got {}", window));
  }
  NodeCase causal = groupCase(7);
  causal.node.integer["causal"] = 2;
  EXPECT_EQ(refusalOf(causal.node), "causal must be 0 or 1, got 2");
  const Tensor row = tensorOf(wave({4}, 1));
  NodeCase listed("GroupQueryAttention",
                  {row, row, row, std::nullopt, std::nullopt, integers({1}, {0}), integers({1}, {1}), row, row});
  listed.node.integer = {{"num_heads", 2}, {"kv_num_heads", 2}, {"do_rotary", 1}};
  listed.node.setConstant(7, row);
  EXPECT_EQ(refusalOf(listed.node), "cos_cache must be [positions, pairs], got [4]");
  NodeCase half = groupCase(7);
  half.node.leaveOut(2);
  EXPECT_EQ(refusalOf(half.node), "key and value go together, got one of them");
  const Tensor x = tensorOf(wave({1, 1, 8}, 1)), buffer = tensorOf(wave({1, 2, 3, 4}, 1)), one = integers({1}, {1});
  NodeCase past("GroupQueryAttention", {x, x, x, buffer, std::nullopt, one, one});
  past.node.integer = {{"num_heads", 2}, {"kv_num_heads", 2}};
  EXPECT_EQ(refusalOf(past.node), "past_key and past_value go together, got one of them");
  NodeCase total = groupCase(7);
  total.node.leaveOut(6);
  EXPECT_EQ(refusalOf(total.node), "seqlens_k and total_sequence_length must be given");
}

TEST(ComMicrosoftGroupQuery, PlacesBeyondTheBufferAreRefused) {
  NodeCase test = groupCase(7);
  test.inputs[5] = integers({1}, {3});
  test.inputs[6] = integers({1}, {2});
  EXPECT_NE(test.runRefusal().find("indices must be in [-2, 2), got 3"), std::string::npos) << test.runRefusal();
}

/// [batch, heads, tokens, size] as [batch, tokens, heads * size].
Array sideBySide(const Array& x) {
  const Shape& from = x.shape;
  Array y({from[0], from[2], from[1] * from[3]});
  for (int64_t b = 0; b < from[0]; ++b)
    for (int64_t h = 0; h < from[1]; ++h)
      for (int64_t t = 0; t < from[2]; ++t)
        for (int64_t i = 0; i < from[3]; ++i) y.at({b, t, h * from[3] + i}) = x.at({b, h, t, i});
  return y;
}

TEST(ComMicrosoftRotary, PlacesAreAnOffsetOrAMatrix) {
  const Array x = wave({2, 3, 12}, 1), cosines = wave({7, 2}, 2), sines = wave({7, 2}, 3);
  const std::vector<int64_t> matrix{0, 6, 2, 5, 5, 1};
  const Tensor offset = features::tensor<int64_t>(DType::Int64, {1}, {3});
  const Tensor places = features::tensor(DType::Int64, {2, 3}, matrix);
  for (const bool interleaved : {false, true})
    for (const Tensor* given : {&offset, &places}) {
      const auto placeOf = [&](int64_t b, int64_t t) {
        return given == &offset ? 3 + t : matrix[static_cast<size_t>(3 * b + t)];
      };
      const Array y = turned(byHeads(x, 3), cosines, sines, interleaved, placeOf);
      NodeCase packed("RotaryEmbedding", {tensorOf(x), *given, tensorOf(cosines), tensorOf(sines)});
      packed.node.integer["interleaved"] = interleaved ? 1 : 0;
      packed.expect({sideBySide(y)});
      NodeCase heads("RotaryEmbedding", {tensorOf(byHeads(x, 3)), *given, tensorOf(cosines), tensorOf(sines)});
      heads.node.integer = {{"interleaved", interleaved ? 1 : 0}, {"is_packed_batching", 1}};
      heads.node.number["scale"] = 2;  // changes nothing
      heads.expect({y});
    }
}

TEST(ComMicrosoftRotary, APartOfAHeadMayTurn) {
  const Array x = wave({2, 3, 12}, 1), cosines = wave({7, 2}, 2), sines = wave({7, 2}, 3);
  const Tensor offset = features::tensor<int64_t>(DType::Int64, {}, {2});
  NodeCase test("RotaryEmbedding", {tensorOf(x), offset, tensorOf(cosines), tensorOf(sines)});
  test.node.integer = {{"num_heads", 2}, {"rotary_embedding_dim", 4}};
  test.expect({sideBySide(turned(byHeads(x, 2), cosines, sines, false, [](int64_t, int64_t t) { return 2 + t; }))});
}

TEST(ComMicrosoftRotary, Refuses) {
  const Tensor x = tensorOf(wave({1, 1, 4}, 1)), zero = features::tensor<int64_t>(DType::Int64, {1}, {0});
  const auto refusal = [&](const char* name, int64_t value) {
    NodeCase test("RotaryEmbedding", {x, zero, x, x});
    test.node.integer[name] = value;
    return refusalOf(test.node);
  };
  EXPECT_EQ(refusal("num_heads", -1), "num_heads must be 0 or more, got -1");
  EXPECT_EQ(refusal("rotary_embedding_dim", -1), "rotary_embedding_dim must be 0 or more, got -1");
  EXPECT_EQ(refusal("rotary_embedding_dim", 2), "rotary_embedding_dim 2 needs num_heads");
}

}  // namespace
}  // namespace opkit::ops::com_microsoft
