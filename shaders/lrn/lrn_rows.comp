// x / (bias + alpha/size * sum of squares over neighbouring channels)^beta, for devices that read memory by the sector:
// a row is the channels of one spatial position, neighbouring rows lie side by side, and each element is loaded once into
// shared memory, from where every window that covers it reads it. Driven by ops/lrn/lrn_vulkan.cpp.
//! variant STORAGE: f32 f16
#version 450
#include "storage.glsl"
#include "rows.glsl"

layout(binding = 0) readonly buffer X { STORAGE x[]; };
layout(binding = 1) writeonly buffer Y { STORAGE y[]; };

layout(push_constant) uniform Push {
  uint rows;
  uint channels;
  uint inner;
  uint before;
  uint after;
  float scale;  // alpha/size
  float beta;
  float bias;
} push;

KEEP_ROWS(float, x)

void main() {
  const Row row = keepRows(push.rows, push.channels, push.inner);
  EACH_OF_ROW(c, row.extent)
    const uint first = c - min(c, push.before), last = min(push.channels - 1u, c + push.after);
    float squares = 0.0;
    for (uint n = first; n <= last; ++n) {
      const float value = rowIn(row, n);
      squares += value * value;
    }
    // Not rowOut: other invocations still read this element.
    STORE(y, row.first + c * row.inner, rowIn(row, c) / mathPow(push.bias + push.scale * squares, push.beta));
  END_OF_ROW
}
