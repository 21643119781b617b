// Softmax and its logarithm over rows of `extent` elements with stride `inner`. A team per row; three passes (maximum,
// sum, write). Driven by ops/softmax/softmax_vulkan.cpp.
//! variant STORAGE: f32 f16
#version 450
#include "storage.glsl"
#include "rows.glsl"

layout(binding = 0) readonly buffer X { STORAGE x[]; };
layout(binding = 1) writeonly buffer Y { STORAGE y[]; };

layout(push_constant) uniform Push {
  uint rows;
  uint extent;
  uint inner;
  uint logarithm;
} push;

// Whether the sum is compensated (Kahan): the error of a plain sum exceeds its bound near 20,000 elements. Blocks
// (addBlock) took 5 % longer on lavapipe.
layout(constant_id = 3) const uint compensated = 1;

TEAM_FOLD(teamMax, float, max)
TEAM_FOLD(teamSum, float, ROW_ADD)

void main() {
  const uint row = teamRow(), inner = push.inner;
  const uint extent = row < push.rows ? push.extent : 0u;
  const uint first = row / inner * extent * inner + row % inner;

  float largest = -kInfinity;  // of a row with NaN: any of its elements, since the sum is NaN
  EACH_OF_ROW(i, extent) largest = max(largest, LOAD(x, first + i * inner)); END_OF_ROW
  largest = teamMax(largest);
  precise float sum = 0.0, lost = 0.0;
  EACH_OF_ROW(i, extent)
    precise float added = exp(LOAD(x, first + i * inner) - largest) - lost;
    precise float next = sum + added;
    if (compensated != 0u) lost = (next - sum) - added;
    sum = next;
  END_OF_ROW
  sum = teamSum(sum - lost);
  const float scale = push.logarithm != 0 ? log(sum) : 1.0 / sum;
  EACH_OF_ROW(i, extent)
    const float shifted = LOAD(x, first + i * inner) - largest;
    STORE(y, first + i * inner, push.logarithm != 0 ? shifted - scale : exp(shifted) * scale);
  END_OF_ROW
}
