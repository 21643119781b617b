// A linear recurrence over tokens. Columns of a state do not depend on each other: an invocation walks some tokens of one
// column, which lies in `state` between dispatches. Driven by ops/linear_attention/linear_attention_vulkan.cpp.
//! variant STORAGE: f32 f16
#version 450
#include "common.glsl"
#include "storage.glsl"
#include "math.glsl"

layout(local_size_x = 64) in;
layout(constant_id = 0) const uint decaySize = 0;  // of a head: none, one for all keys, or one for each
layout(constant_id = 1) const uint betaHeads = 0;  // none (no delta rule), one for all heads, or one for each
layout(constant_id = 2) const bool hasPast = false;

layout(binding = 0) readonly buffer Query { STORAGE query[]; };
layout(binding = 1) readonly buffer Key { STORAGE key[]; };
layout(binding = 2) readonly buffer Value { STORAGE value[]; };
layout(binding = 3) readonly buffer Past { float past[]; };
layout(binding = 4) readonly buffer Decay { STORAGE decay[]; };
layout(binding = 5) readonly buffer Beta { STORAGE beta[]; };
layout(binding = 6) writeonly buffer Y { STORAGE y[]; };
layout(binding = 7) buffer State { float state[]; };

layout(push_constant) uniform Push {
  uint count;   // columns of all states
  uint heads;
  uint group;   // heads of queries that share a state
  uint keySize;
  uint valueSize;
  uint tokens;  // of a sample
  uint first;   // token of this dispatch
  uint last;    // one beyond
  float scale;
} push;

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  const uint column = i % push.valueSize, own = i / push.valueSize, head = own % push.heads;
  const uint cells = own * push.keySize * push.valueSize + column;
  if (push.first == 0u)
    for (uint k = 0u; k < push.keySize; ++k)
      state[cells + k * push.valueSize] = hasPast ? past[cells + k * push.valueSize] : 0.0;
  for (uint token = push.first; token < push.last; ++token) {
    const uint row = own / push.heads * push.tokens + token, headRow = row * push.heads + head;
    float held = 0.0, factor = decaySize == 1u ? mathExp(LOAD(decay, headRow)) : 1.0;
    if (decaySize > 0u || betaHeads > 0u)
      for (uint k = 0u; k < push.keySize; ++k) {
        if (decaySize > 1u) factor = mathExp(LOAD(decay, headRow * push.keySize + k));
        const float cell = state[cells + k * push.valueSize] * factor;
        state[cells + k * push.valueSize] = cell;
        held += LOAD(key, headRow * push.keySize + k) * cell;
      }
    float added = LOAD(value, headRow * push.valueSize + column);
    if (betaHeads > 0u) added = LOAD(beta, betaHeads == 1u ? row : headRow) * (added - held);
    for (uint g = 0u; g < push.group; ++g) {
      const uint queryRow = (headRow * push.group + g) * push.keySize;
      float sum = 0.0;
      for (uint k = 0u; k < push.keySize; ++k) {
        float cell = state[cells + k * push.valueSize];
        if (g == 0u) {
          cell += LOAD(key, headRow * push.keySize + k) * added;
          state[cells + k * push.valueSize] = cell;
        }
        sum += LOAD(query, queryRow + k) * push.scale * cell;
      }
      STORE(y, (headRow * push.group + g) * push.valueSize + column, sum);
    }
  }
}
