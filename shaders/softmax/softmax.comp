// Softmax and its logarithm over rows of `extent` elements with stride `inner`. A team per row; three passes (maximum,
// sum, write), over shared memory where rows fit into it. Driven by ops/softmax/softmax_vulkan.cpp.
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
// Whether maximum and sum are found in one pass: a sum is scaled anew when its maximum grows.
layout(constant_id = 4) const uint online = 0;

const float kLowest = -3.40282347e38;

KEEP_ROWS(float, x)
KEEP_RESULTS(float, y)
TEAM_FOLD(teamMax, float, max)
TEAM_FOLD(teamSum, float, ROW_ADD)

/// The row's sum of exp(x - largest), and its largest element; of a row with NaN: any of its elements, since the sum is
/// NaN.
float sumInTwoPasses(Row row, out float largest) {
  float part = -kInfinity;
  EACH_OF_ROW(i, row.extent) part = max(part, rowIn(row, i)); END_OF_ROW
  largest = teamMax(part);
  precise float sum = 0.0, lost = 0.0;
  EACH_OF_ROW(i, row.extent)
    precise float added = exp(rowIn(row, i) - largest) - lost;
    precise float next = sum + added;
    if (compensated != 0u) lost = (next - sum) - added;
    sum = next;
  END_OF_ROW
  return teamSum(sum - lost);
}

float sumInOnePass(Row row, out float largest) {
  float own = kLowest;  // not -Inf, whose distance from itself is NaN
  precise float sum = 0.0, lost = 0.0;
  EACH_OF_ROW(i, row.extent)
    const float value = rowIn(row, i);
    if (value > own) {
      const float smaller = exp(own - value);
      sum = sum * smaller;
      lost = lost * smaller;
      own = value;
    }
    precise float added = exp(value - own) - lost;
    precise float next = sum + added;
    if (compensated != 0u) lost = (next - sum) - added;
    sum = next;
  END_OF_ROW
  largest = teamMax(own);
  return teamSum((sum - lost) * exp(own - largest));
}

void main() {
  const Row row = keepRows(push.rows, push.extent, push.inner);
  float largest = 0.0, sum = 0.0;
  if (online != 0u)
    sum = sumInOnePass(row, largest);
  else
    sum = sumInTwoPasses(row, largest);
  const float scale = push.logarithm != 0 ? log(sum) : 1.0 / sum;
  EACH_OF_ROW(i, row.extent)
    const float shifted = rowIn(row, i) - largest;
    rowOut(row, i, push.logarithm != 0 ? shifted - scale : exp(shifted) * scale);
  END_OF_ROW
  storeRows(row);
}
