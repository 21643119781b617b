// ReverseSequence: moves the words of slices, [time, batch] or [batch, time], to the mirrored time where that is below
// the sequence's length. Lengths are int64, two words; one outside [0, times] is clamped and reported. One invocation
// per word. Driven by ops/reverse_sequence/reverse_sequence_vulkan.cpp.
//! variant WORD: u8 u16 u32 u32x2 u32x4
#version 450
#include "common.glsl"
#include "storage.glsl"

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer X { WORD_TYPE x[]; };
layout(binding = 1) readonly buffer Lengths { ivec2 lengths[]; };  // low word, high word
layout(binding = 2) writeonly buffer Y { WORD_TYPE y[]; };
layout(binding = 3) buffer Bad { int bad[]; };
#include "report.glsl"

layout(push_constant) uniform Push {
  uint count;
  uint words;  // of a slice
  uint times;
  uint batches;
  uint timeStride;  // in slices
  uint batchStride;
} push;

int lengthOf(uint batch) {
  const ivec2 given = lengths[batch];
  return checkedRange(saturated(given.x, given.y), int(push.times));
}

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  const uint slice = i / push.words;
  const int time = int(slice / push.timeStride % push.times), length = lengthOf(slice / push.batchStride % push.batches);
  const int moved = time < length ? (length - 1 - 2 * time) * int(push.timeStride * push.words) : 0;
  WORD_STORE(y, i, WORD_LOAD(x, uint(int(i) + moved)));
}
