// Philox4x32-10, a counter-based generator: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3"
// (SC 2011), section 3.3 and table 2. Pure functions, thread-safe. philox_test.cpp checks the authors' known answers.
#pragma once

#include <array>
#include <cstdint>

namespace opkit::ops::random {

using Words = std::array<uint32_t, 4>;

/// Ten rounds on a counter under a key of two words, the low one first.
inline Words philox(Words counter, uint64_t key) {
  auto low = static_cast<uint32_t>(key), high = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t first = uint64_t{0xD2511F53} * counter[0], second = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(second >> 32) ^ counter[1] ^ low, static_cast<uint32_t>(second),
               static_cast<uint32_t>(first >> 32) ^ counter[3] ^ high, static_cast<uint32_t>(first)};
    low += 0x9E3779B9;
    high += 0xBB67AE85;
  }
  return counter;
}

/// Block `block` of the stream of a key.
inline Words philoxBlock(uint64_t block, uint64_t key) {
  return philox({static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), 0, 0}, key);
}

}  // namespace opkit::ops::random
