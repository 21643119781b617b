// Softmax and its logarithm over rows of `extent` elements that lie `inner` apart.
// One invocation per row; three passes (maximum, sum, write). Driven by ops/softmax/softmax_vulkan.cpp.
//! variant STORAGE: f32 f16
#version 450
#include "common.glsl"
#include "storage.glsl"

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer X { STORAGE x[]; };
layout(binding = 1) writeonly buffer Y { STORAGE y[]; };

layout(push_constant) uniform Push {
  uint rows;
  uint extent;
  uint inner;
  uint logarithm;
} push;

void main() {
  const uint row = linearIndex();
  const uint rows = push.rows, extent = push.extent, inner = push.inner;
  if (row >= rows) return;
  const uint first = row / inner * extent * inner + row % inner;

  float largest = LOAD(x, first);
  for (uint i = 1; i < extent; ++i) largest = max(largest, LOAD(x, first + i * inner));
  // Compensated (Kahan): the error of a plain sum leaves its bound near 20,000 elements.
  precise float sum = 0.0, lost = 0.0;
  for (uint i = 0; i < extent; ++i) {
    precise float added = exp(LOAD(x, first + i * inner) - largest) - lost;
    precise float next = sum + added;
    lost = (next - sum) - added;
    sum = next;
  }
  const float scale = push.logarithm != 0 ? log(sum) : 1.0 / sum;
  for (uint i = 0; i < extent; ++i) {
    const float shifted = LOAD(x, first + i * inner) - largest;
    STORE(y, first + i * inner, push.logarithm != 0 ? shifted - scale : exp(shifted) * scale);
  }
}
