#include <cmath>

#include "harness/zoo/network_builder.h"
#include "harness/zoo/networks.h"

namespace opkit::zoo {
namespace {

using Ints = std::vector<int64_t>;

constexpr int64_t kRate = 16000;  // samples per second
constexpr int64_t kFrame = 400;   // 25 ms
constexpr int64_t kStep = 160;    // 10 ms
constexpr int64_t kBands = 40;    // of the mel scale
constexpr int64_t kHidden = 128;
constexpr int64_t kLetters = 29;  // 26, space, apostrophe and blank

/// The logarithms of the magnitudes in each band: [N, samples] to [N, frames, kBands].
std::string melSpectrum(NetworkBuilder& net, const std::string& samples) {
  const std::string signal = net.node("Unsqueeze", {samples, net.integers({-1})});
  const std::string window = net.node("HannWindow", {net.integer(kFrame)});
  const std::string spectra = net.node("STFT", {signal, net.integer(kStep), window});
  const std::string power = net.node("ReduceSumSquare", {spectra}, {{"axes", Ints{-1}}, {"keepdims", int64_t{0}}});
  const std::string weights = net.node("MelWeightMatrix", {net.integer(kBands), net.integer(kFrame), net.integer(kRate),
                                                           net.scalar(20), net.scalar(7600)});
  const std::string bands = net.node("MatMul", {net.node("Sqrt", {power}), weights});
  return net.node("Log", {net.node("Add", {bands, net.scalar(1e-3f)})});
}

/// x [N, frames, kBands] to [N, frames, kHidden].
std::string lstm(NetworkBuilder& net, const std::string& x) {
  const double deviation = std::sqrt(1.0 / static_cast<double>(kHidden));
  const std::string steps = net.node("Transpose", {x}, {{"perm", Ints{1, 0, 2}}});
  const std::string w = net.normal({1, 4 * kHidden, kBands}, 0.5 * deviation);
  const std::string r = net.normal({1, 4 * kHidden, kHidden}, deviation);
  const std::string states =
      net.node("LSTM", {steps, w, r, net.normal({1, 8 * kHidden}, 0.05)}, {{"hidden_size", kHidden}});
  return net.node("Transpose", {net.node("Squeeze", {states, net.integers({1})})}, {{"perm", Ints{1, 0, 2}}});
}

}  // namespace

std::vector<uint8_t> buildSpeech() {
  NetworkBuilder net("speech", 17, 1707);
  const std::string samples = net.input("input", {"N", "S"}, {1, kRate});
  const std::string states = lstm(net, melSpectrum(net, samples));
  const std::string weights = net.normal({kHidden, kLetters}, std::sqrt(1.0 / static_cast<double>(kHidden)));
  const std::string scores = net.node("Add", {net.node("MatMul", {states, weights}), net.normal({kLetters}, 0.05)});
  return net.finish(net.node("Softmax", {scores}, {{"axis", int64_t{-1}}}), {"N", "F", kLetters});
}

}  // namespace opkit::zoo
