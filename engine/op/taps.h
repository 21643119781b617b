// Taps: output elements that are weighted sums of chosen input elements, the same in every plane of a tensor: Resize,
// upsampling, fixed permutations. The table is made at resize; oracles and kernels walk it.
//
// Plain values and functions, thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace opkit {

/// One input element that an output element reads.
struct Tap {
  int64_t at;
  double weight;
};

/// Of one axis, or of a plane of several axes.
struct Taps {
  int64_t inputs = 1;     // elements to read from
  int64_t outputs = 1;    // elements to give
  int64_t count = 1;      // taps of every output; one that needs fewer has taps of weight 0
  std::vector<Tap> list;  // those of output 0, those of output 1, ...

  std::span<const Tap> of(int64_t output) const { return {list.data() + output * count, static_cast<size_t>(count)}; }
};

/// A plane of the given axes, outermost first: an output reads every combination of its taps along them, with the
/// product of their weights. One element without axes.
Taps combineTaps(std::span<const Taps> axes);

/// Two words per tap, for Encoder::table: where, and the bits of the weight as a float. REQUIRES fewer than 2^32
/// inputs.
std::vector<uint32_t> packTaps(const Taps& taps);

}  // namespace opkit
