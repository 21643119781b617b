// Rng: the harness's own random numbers, so that a seed gives the same data on every machine and library.
//
// xoshiro256** (Blackman and Vigna, 2018, public domain algorithm) seeded through splitmix64. Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace opkit::harness {

class Rng {
 public:
  explicit Rng(uint64_t seed) {
    for (uint64_t& word : state_) word = splitmix(seed);
  }

  uint64_t next() {
    const uint64_t result = rotate(state_[1] * 5, 7) * 9;
    const uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = rotate(state_[3], 45);
    return result;
  }
  /// Uniform in [0, 1) with 53 random bits.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// Uniform in [low, high]; the bias of the modulo is below 2^-40 for the ranges used here.
  int64_t integer(int64_t low, int64_t high) {
    const uint64_t span = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);  // of all integers: no remainder
    return static_cast<int64_t>(static_cast<uint64_t>(low) + (span == UINT64_MAX ? next() : next() % (span + 1)));
  }

 private:
  static uint64_t rotate(uint64_t x, int bits) { return (x << bits) | (x >> (64 - bits)); }
  static uint64_t splitmix(uint64_t& seed) {
    uint64_t z = (seed += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  std::array<uint64_t, 4> state_;
};

/// FNV-1a: turns the text that describes some data into its seed.
inline uint64_t hashText(std::string_view text) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001B3u;
  return hash;
}

}  // namespace opkit::harness
