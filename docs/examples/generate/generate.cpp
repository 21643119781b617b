// Generates tokens with a decoder that takes the keys and values of earlier tokens as inputs and returns them with
// those of the new tokens. The token with the largest logit follows.
//
//   op-convert zoo:decoder decoder.onnx
//   generate decoder.onnx vulkan 64 1 2 3        64 tokens behind the prompt 1 2 3
//
// Prints the tokens, then the least difference between the largest and the second logit, and the time. The model has
// the inputs input_ids and position_ids, i64 [1, tokens], and past_NAME, f32 [1, heads, cached tokens, size]; the
// outputs logits [1, tokens, vocabulary] and present_NAME. Exit codes: 0, 1 if it cannot run, 2 for wrong arguments.
#include <opkit/opkit.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using Tokens = std::vector<int64_t>;
using opkit::api::Network;

/// A network and the keys and values that it returned so far.
class Decoder {
 public:
  explicit Decoder(Network& network) : network_(network) {
    for (const auto& input : network.inputs())
      if (input.name.rfind("past_", 0) == 0) shapes_[input.name.substr(5)] = input.shape;
  }

  /// Runs tokens behind the cached ones; `logits` are those of the last token.
  bool run(const Tokens& tokens, std::vector<float>& logits, std::string& error) {
    const auto count = static_cast<int64_t>(tokens.size());
    Tokens positions;
    for (int64_t i = 0; i < count; ++i) positions.push_back(cached_ + i);
    if (!set("input_ids", {1, count}, tokens, error) || !set("position_ids", {1, count}, positions, error))
      return false;
    for (auto& [name, shape] : shapes_) {
      shape[0] = 1;
      shape[2] = cached_;
      if (!set("past_" + name, shape, cache_[name], error)) return false;
    }
    if (!network_.run(error)) return false;
    cached_ += count;
    for (const auto& [name, shape] : shapes_)
      if (!get("present_" + name, cache_[name], error)) return false;
    if (!get("logits", logits, error)) return false;
    logits.erase(logits.begin(), logits.end() - static_cast<std::ptrdiff_t>(logits.size() / tokens.size()));
    return true;
  }

 private:
  template <class T>
  bool set(const std::string& name, const std::vector<int64_t>& shape, const std::vector<T>& values,
           std::string& error) {
    const char* dtype = std::is_same_v<T, float> ? "f32" : "i64";
    return network_.setInput(name, dtype, shape, values.data(), values.size() * sizeof(T), error);
  }
  bool get(const std::string& name, std::vector<float>& values, std::string& error) const {
    size_t bytes = 0;
    const auto* data = static_cast<const float*>(network_.output(name, &bytes));
    if (!data) error = "the model has no output '" + name + "'";
    if (data) values.assign(data, data + bytes / sizeof(float));
    return data != nullptr;
  }

  Network& network_;
  std::map<std::string, std::vector<int64_t>> shapes_;  // of past_NAME, by NAME
  std::map<std::string, std::vector<float>> cache_;
  int64_t cached_ = 0;  // tokens
};

/// The index of the largest element, and how far the second is below it.
std::pair<int64_t, float> largest(std::vector<float>& logits) {
  const auto best = std::max_element(logits.begin(), logits.end());
  const float value = *best;
  *best = -INFINITY;
  return {best - logits.begin(), value - *std::max_element(logits.begin(), logits.end())};
}

int generate(Network& network, Tokens tokens, int64_t count) {
  Decoder decoder(network);
  float least = INFINITY, top = 0;
  std::string error, text;
  std::vector<float> logits;
  const auto begin = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < count; ++i) {
    if (!decoder.run(tokens, logits, error)) return std::fprintf(stderr, "generate: %s\n", error.c_str()), 1;
    top = std::max(top, *std::max_element(logits.begin(), logits.end()));
    const auto [token, margin] = largest(logits);
    least = std::min(least, margin);
    tokens = {token};
    text += (i == 0 ? "" : " ") + std::to_string(token);
  }
  const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - begin;
  std::printf("%s\nleast margin %.3g of logits up to %.3g; %.3g ms a token\n", text.c_str(), static_cast<double>(least),
              static_cast<double>(top), elapsed.count() / static_cast<double>(count));
  return 0;
}

/// True if the text is a whole number from `least` on.
bool parse(const char* text, int64_t least, int64_t& value) {
  char* end = nullptr;
  value = std::strtoll(text, &end, 10);
  return end != text && *end == 0 && value >= least;
}

}  // namespace

int main(int argc, char** argv) {
  int64_t count = 0;
  Tokens prompt(static_cast<size_t>(std::max(argc - 4, 0)));
  bool isValid = argc > 4 && parse(argv[3], 1, count);
  for (int i = 4; i < argc; ++i) isValid = parse(argv[i], 0, prompt[static_cast<size_t>(i - 4)]) && isValid;
  if (!isValid) return std::fprintf(stderr, "usage: generate MODEL.onnx BACKEND COUNT TOKEN...\n"), 2;
  std::string error;
  const auto network = Network::open(argv[1], {.backend = argv[2]}, error);
  if (!network) return std::fprintf(stderr, "generate: %s\n", error.c_str()), 1;
  return generate(*network, prompt, count);
}
