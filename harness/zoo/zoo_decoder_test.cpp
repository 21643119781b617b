// The decoder of the zoo with a growing cache: whole prompts against single steps, batches, and the tokens it generates
// on every backend.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "engine/backend/device_test_support.h"
#include "engine/runtime/session.h"
#include "harness/zoo/load_model.h"
#include "ops/builtin_ops.h"

namespace opkit {
namespace {

using Tokens = std::vector<int64_t>;

/// Equally long rows of new tokens run behind those that the cache holds.
class CachedDecoder {
 public:
  CachedDecoder(const std::string& name, const std::string& backend) {
    auto model = loadModel(name);
    EXPECT_TRUE(model) << model.error().toString();
    interpreter_ = *Interpreter::create(*std::move(model), ops::builtinOps());
    auto session = interpreter_->createSession({.backend = backend, .cacheDir = "off", .threads = 2});
    EXPECT_TRUE(session) << session.error().toString();
    session_ = *std::move(session);
  }

  /// Logits as [rows, tokens, vocabulary].
  std::vector<float> run(const std::vector<Tokens>& rows) {
    const auto batch = static_cast<int64_t>(rows.size()), tokens = static_cast<int64_t>(rows[0].size());
    const std::span<int64_t> ids = resized("input_ids", {batch, tokens}).data<int64_t>();
    const std::span<int64_t> positions = resized("position_ids", {batch, tokens}).data<int64_t>();
    for (size_t i = 0; i < ids.size(); ++i) {
      ids[i] = rows[i / rows[0].size()][i % rows[0].size()];
      positions[i] = cached_ + static_cast<int64_t>(i) % tokens;
    }
    feedCache(batch);
    const Status status = session_->run();
    EXPECT_TRUE(status.isOk()) << status.toString();
    keepCache();
    cached_ += tokens;
    const std::span<float> logits = session_->output("logits")->data<float>();
    return {logits.begin(), logits.end()};
  }

  const Session& session() const { return *session_; }

 private:
  Tensor& resized(const std::string& name, const Shape& shape) {
    const Status status = session_->resizeInput(name, shape);
    EXPECT_TRUE(status.isOk()) << status.toString();
    return *session_->fillInput(name);
  }

  /// past_key_0 takes present_key_0 of the run before, and so on.
  void feedCache(int64_t batch) {
    for (const std::string& name : session_->inputNames()) {
      if (!name.starts_with("past_")) continue;
      Shape shape = session_->input(name)->desc.shape;
      shape[0] = batch;
      shape[2] = cached_;
      std::ranges::copy(cache_[name.substr(5)], resized(name, shape).data<float>().begin());
    }
  }

  void keepCache() {
    for (const std::string& name : session_->outputNames()) {
      if (!name.starts_with("present_")) continue;
      const std::span<float> values = session_->output(name)->data<float>();
      cache_[name.substr(8)] = {values.begin(), values.end()};
    }
  }

  std::shared_ptr<Interpreter> interpreter_;
  std::unique_ptr<Session> session_;
  std::map<std::string, std::vector<float>> cache_;  // key_0, value_0, ...
  int64_t cached_ = 0;
};

struct Generated {
  Tokens tokens;
  float leastMargin = INFINITY;  // between the largest and the second logit
  float largest = 0;
};

/// The token with the largest logit follows, again and again.
Generated generate(const std::string& name, const std::string& backend, const Tokens& prompt, size_t count) {
  CachedDecoder decoder(name, backend);
  Generated generated;
  Tokens next = prompt;
  while (generated.tokens.size() < count) {
    std::vector<float> logits = decoder.run({next});
    const auto last = logits.end() - static_cast<std::ptrdiff_t>(logits.size() / next.size());
    const auto best = std::max_element(last, logits.end());
    next = {best - last};
    generated.tokens.push_back(next[0]);
    generated.largest = std::max(generated.largest, *best);
    const float logit = *best;
    *best = -INFINITY;
    generated.leastMargin = std::min(generated.leastMargin, logit - *std::max_element(last, logits.end()));
  }
  return generated;
}

Tokens prompt(int64_t length, int64_t vocabulary, int64_t seed) {
  Tokens tokens;
  for (int64_t i = 0; i < length; ++i) tokens.push_back((seed + i * 7919) * 31 % vocabulary);
  return tokens;
}

void expectCloseLogits(std::span<const float> got, std::span<const float> expected) {
  ASSERT_EQ(got.size(), expected.size());
  float largest = 0;
  for (const float value : expected) largest = std::max(largest, std::fabs(value));
  for (size_t i = 0; i < got.size(); ++i) ASSERT_LE(std::fabs(got[i] - expected[i]), 1e-5f * largest) << i;
}

class ZooDecoder : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { OPKIT_NEEDS_DEVICE(createRuntime(GetParam())); }
};

TEST_P(ZooDecoder, GeneratesTheTokensOfTheReference) {
  const std::pair<const char*, int64_t> networks[] = {
      {"zoo:decoder", 256}, {"zoo:decoder:layers=3,model=60,heads=6,kv_heads=2,hidden=50,vocabulary=77", 77}};
  for (const auto& [name, vocabulary] : networks) {
    const Tokens first = prompt(5, vocabulary, 3);
    const Generated expected = generate(name, "reference", first, 64);
    EXPECT_GT(expected.leastMargin, 1e-4f * expected.largest) << name << ": a near tie decides nothing";
    EXPECT_GT(std::set(expected.tokens.begin(), expected.tokens.end()).size(), 20u) << name;
    EXPECT_EQ(generate(name, GetParam(), first, 64).tokens, expected.tokens) << name;
  }
}

TEST_P(ZooDecoder, StepsWithACacheGiveTheLogitsOfTheWholePrompt) {
  const Tokens tokens = prompt(24, 256, 1);
  const std::vector<float> whole = CachedDecoder("zoo:decoder", GetParam()).run({tokens});
  CachedDecoder decoder("zoo:decoder", GetParam());
  std::vector<float> steps;
  for (size_t begin = 0; const size_t count : {10, 1, 1, 7, 1, 4}) {
    const auto first = tokens.begin() + static_cast<std::ptrdiff_t>(begin);
    const std::vector<float> logits = decoder.run({Tokens(first, first + static_cast<std::ptrdiff_t>(count))});
    steps.insert(steps.end(), logits.begin(), logits.end());
    begin += count;
  }
  expectCloseLogits(steps, whole);
}

TEST_P(ZooDecoder, RowsOfABatchAreIndependent) {
  const std::vector<Tokens> prompts{prompt(7, 256, 1), prompt(7, 256, 2)};
  const std::vector<Tokens> next{{5}, {99}};
  CachedDecoder both("zoo:decoder", GetParam());
  const std::vector<float> logits = both.run(prompts), step = both.run(next);
  for (size_t row = 0; row < 2; ++row) {
    CachedDecoder alone("zoo:decoder", GetParam());
    const size_t size = logits.size() / 2, vocabulary = step.size() / 2;
    expectCloseLogits(std::span(logits).subspan(row * size, size), alone.run({prompts[row]}));
    expectCloseLogits(std::span(step).subspan(row * vocabulary, vocabulary), alone.run({next[row]}));
  }
}

TEST_P(ZooDecoder, AStepPacksNothingAndMakesNoPipelines) {
  CachedDecoder decoder("zoo:decoder", GetParam());
  decoder.run({prompt(5, 256, 1)});
  for (int64_t i = 0; i < 3; ++i) decoder.run({{i}});
  const size_t constants = decoder.session().statistics().memory[0].constantBytes;
  const BackendCounters before = decoder.session().counters();
  for (int64_t i = 0; i < 4; ++i) decoder.run({{i}});
  const BackendCounters after = decoder.session().counters();
  EXPECT_EQ(decoder.session().statistics().memory[0].constantBytes, constants);
  EXPECT_EQ(after.pipelinesCreated, before.pipelinesCreated);
  EXPECT_LT(after.bytesUploaded - before.bytesUploaded, constants / 10);
}

TEST_P(ZooDecoder, APositionOutsideTheContextIsAnError) {
  auto model = loadModel("zoo:decoder:context=4");
  ASSERT_TRUE(model) << model.error().toString();
  auto session = (*Interpreter::create(*std::move(model), ops::builtinOps()))->createSession({.backend = GetParam()});
  ASSERT_TRUE(session) << session.error().toString();
  for (const std::string& name : (*session)->inputNames()) {
    Tensor& tensor = *(*session)->fillInput(name);
    std::ranges::fill(tensor.bytes(), std::byte{0});
  }
  (*session)->fillInput("position_ids")->data<int64_t>()[0] = 4;
  const Status status = (*session)->run();
  ASSERT_FALSE(status.isOk());
  EXPECT_NE(status.message().find("indices must be in [-4, 4), got 4"), std::string::npos) << status.message();
}

INSTANTIATE_TEST_SUITE_P(Backends, ZooDecoder, ::testing::Values("cpu", "vulkan"),
                         [](const auto& backend) { return backend.param; });

}  // namespace
}  // namespace opkit
