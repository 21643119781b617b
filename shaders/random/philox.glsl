// Philox4x32-10: block `block` of the stream of a key, ten rounds on the counter (block, 0, 0, 0). ops/random/philox.h has the
// source; random_test.cpp compares both.
uvec4 philoxBlock(uint block, uvec2 key) {
  uvec4 counter = uvec4(block, 0u, 0u, 0u);
  [[dont_unroll]] for (uint round = 0u; round < 10u; ++round) {
    uint high0, low0, high1, low1;
    umulExtended(0xD2511F53u, counter.x, high0, low0);
    umulExtended(0xCD9E8D57u, counter.z, high1, low1);
    counter = uvec4(high1 ^ counter.y ^ key.x, low1, high0 ^ counter.w ^ key.y, low0);
    key += uvec2(0x9E3779B9u, 0xBB67AE85u);
  }
  return counter;
}

/// A word as a number in [0, 1) of 24 bits.
float numberOf(uint word) { return float(word >> 8) * 5.9604644775390625e-8; }
