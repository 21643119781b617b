#include "engine/op/taps.h"

#include <bit>

#include "engine/base/check.h"

namespace opkit {
namespace {

/// `inner` varies faster.
Taps combine(const Taps& outer, const Taps& inner) {
  Taps both{outer.inputs * inner.inputs, outer.outputs * inner.outputs, outer.count * inner.count, {}};
  both.list.reserve(static_cast<size_t>(both.outputs * both.count));
  for (int64_t o = 0; o < outer.outputs; ++o)
    for (int64_t i = 0; i < inner.outputs; ++i)
      for (const Tap& a : outer.of(o))
        for (const Tap& b : inner.of(i)) both.list.push_back({a.at * inner.inputs + b.at, a.weight * b.weight});
  return both;
}

}  // namespace

Taps combineTaps(std::span<const Taps> axes) {
  Taps plane{.list = {{0, 1}}};
  for (const Taps& axis : axes) plane = combine(plane, axis);
  return plane;
}

std::vector<uint32_t> packTaps(const Taps& taps) {
  OPKIT_CHECK(taps.inputs <= int64_t{UINT32_MAX});
  std::vector<uint32_t> words;
  words.reserve(2 * taps.list.size());
  for (const Tap& tap : taps.list) {
    words.push_back(static_cast<uint32_t>(tap.at));
    words.push_back(std::bit_cast<uint32_t>(static_cast<float>(tap.weight)));
  }
  return words;
}

}  // namespace opkit
