// The oracles of random numbers. The generator is written from its definition on 128-bit counters of words, without the
// kernels' philox.h: a round as a table of which word goes where.
#include <cmath>
#include <numbers>

#include "ops/random/random.h"
#include "ops/random/sampling.h"

namespace opkit::ops::random {
namespace {

using Real = long double;

/// Word `index` of the stream of `key`.
uint32_t wordAt(uint64_t key, uint64_t index) {
  constexpr unsigned __int128 kMultipliers[2] = {0xD2511F53, 0xCD9E8D57};
  constexpr uint32_t kWeyl[2] = {0x9E3779B9, 0xBB67AE85};  // of the golden ratio and of sqrt(3) - 1
  const uint64_t block = index / 4;
  uint64_t pairs[2] = {block, 0};  // (word 0, word 1) and (word 2, word 3), the first in the low half
  for (uint32_t round = 0; round < 10; ++round) {
    uint64_t next[2];
    for (uint32_t p = 0; p < 2; ++p) {
      const auto product = static_cast<uint64_t>(kMultipliers[1 - p] * (pairs[1 - p] & 0xFFFFFFFF));
      const uint32_t subkey = static_cast<uint32_t>(key >> (32 * p)) + round * kWeyl[p];
      const uint64_t mixed = (product >> 32) ^ (pairs[p] >> 32) ^ subkey;
      next[p] = mixed | product << 32;
    }
    pairs[0] = next[0];
    pairs[1] = next[1];
  }
  return static_cast<uint32_t>(pairs[index % 4 / 2] >> (index % 2 == 0 ? 0 : 32));
}

/// Number `i` of a stream as a whole number of `bits` bits: 24 of one word, or 53 of two.
int64_t wholeAt(uint64_t key, uint64_t i, int bits) {
  if (bits == 24) return wordAt(key, i) / 256;
  return static_cast<int64_t>(wordAt(key, 2 * i) / 32) * (int64_t{1} << 26) + wordAt(key, 2 * i + 1) / 64;
}

int drawnBitsOf(DType dtype) { return dtype == DType::Float64 ? 53 : 24; }

/// Rounded to f32, unless the numbers are of f64.
double rounded(double value, int bits) { return bits == 24 ? static_cast<double>(static_cast<float>(value)) : value; }

/// The radius and the angle, in turns, of the pair of normal numbers `pair`.
struct Polar {
  Real radius, turns;

  Polar(uint64_t key, uint64_t pair, int bits) {
    const Real unit = std::ldexp(Real(1), -bits);
    radius = std::sqrt(-2 * std::log(static_cast<Real>(wholeAt(key, 2 * pair, bits) + 1) * unit));
    turns = static_cast<Real>(wholeAt(key, 2 * pair + 1, bits)) * unit;
  }
};

}  // namespace

double uniformAt(uint64_t key, uint64_t i) { return std::ldexp(static_cast<double>(wholeAt(key, i, 24)), -24); }

/// The definition has two roundings, of the product and of the sum.
Status uniformReference(const OracleArgs& args) {
  const auto params = args.params<RandomParams>();
  OracleTensor& y = args.output();
  const int bits = drawnBitsOf(y.desc.dtype);
  const double width = rounded(static_cast<double>(params.high) - params.low, 24);
  for (size_t i = 0; i < y.real.size(); ++i) {
    const double number = std::ldexp(static_cast<double>(wholeAt(params.key, i, bits)), -bits);
    y.real[i] = rounded(params.low + rounded(width * number, bits), bits);
  }
  return Status::ok();
}

/// Errors of logarithm, root and circle are relative to the radius, that of the sum to the mean.
Status normalReference(const OracleArgs& args) {
  const auto params = args.params<RandomParams>();
  OracleTensor& y = args.output();
  for (size_t i = 0; i < y.real.size(); ++i) {
    const Polar polar(params.key, i / 2, drawnBitsOf(y.desc.dtype));
    const Real angle = 2 * std::numbers::pi_v<Real> * polar.turns;
    const Real number = polar.radius * (i % 2 == 0 ? std::cos(angle) : std::sin(angle));
    y.real[i] = static_cast<double>(params.mean + params.scale * number);
    y.magnitude.push_back(static_cast<double>(std::fabs(Real(params.mean)) / 4 + params.scale * (polar.radius + 0.5L)));
  }
  return Status::ok();
}

}  // namespace opkit::ops::random
