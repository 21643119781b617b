// Rows of `extent` elements normalised to mean 0 and variance 1, scaled and shifted; LayerNormalization and
// InstanceNormalization. A team per row; two passes for the statistics (a one-pass variance cancels when the mean is
// large), one to write, over shared memory where rows fit into it. Driven by ops/layer_norm/layer_norm_vulkan.cpp.
//! variant STORAGE: f32 f16
#version 450
#include "storage.glsl"
#include "rows.glsl"

layout(binding = 0) readonly buffer X { STORAGE x[]; };
layout(binding = 1) readonly buffer Scale { STORAGE scale[]; };
layout(binding = 2) readonly buffer Bias { STORAGE bias[]; };
layout(binding = 3) writeonly buffer Y { STORAGE y[]; };
layout(binding = 4) writeonly buffer Mean { float mean[]; };
layout(binding = 5) writeonly buffer InverseDeviation { float inverseDeviation[]; };

layout(push_constant) uniform Push {
  uint rows;
  uint extent;
  uint channels;     // 0: scale and bias go by position, else by channel
  uint rowChannels;  // that a row has after each other
  uint centred;      // 0: the mean counts as 0
  uint hasBias;
  uint statistics;  // bit 0: write mean; bit 1: write inverseDeviation
  float epsilon;
} push;

KEEP_ROWS(float, x)
KEEP_RESULTS(float, y)
TEAM_FOLD(teamSum, float, ROW_ADD)
TEAM_FOLD(teamSums, vec2, ROW_ADD)

void main() {
  const Row row = keepRows(push.rows, push.extent, 1u);
  const uint extent = row.extent, channels = push.channels;
  const float count = float(push.extent);

  vec2 sum = kNoBlocks;
  float part = 0.0;
  const uint averaged = push.centred != 0 ? extent : 0u;
  BLOCKS_OF_ROW(i, averaged) part += rowIn(row, i); END_OF_BLOCK
    addBlock(sum, part);
  END_OF_BLOCKS
  const float average = teamSum(sumOfBlocks(sum)) / count;

  // If the mean is much larger than the deviation, its rounding error would affect every element. The mean of the
  // centred elements corrects it.
  vec2 squares = kNoBlocks, rest = kNoBlocks;
  float left = 0.0;
  BLOCKS_OF_ROW(i, extent)
    const float centred = rowIn(row, i) - average;
    part += centred * centred;
    left += centred;
  END_OF_BLOCK
    addBlock(squares, part);
    addBlock(rest, left);
  END_OF_BLOCKS
  const vec2 sums = teamSums(vec2(sumOfBlocks(squares), sumOfBlocks(rest)));
  const float correction = push.centred != 0 ? sums.y / count : 0.0;
  const float variance = max(sums.x / count - correction * correction, 0.0);
  const float inverse = isNan(sums.x) ? sums.x : 1.0 / sqrt(variance + push.epsilon);
  if (extent > 0u && teamLane() == 0u) {
    if ((push.statistics & 1u) != 0) mean[row.index] = average + correction;
    if ((push.statistics & 2u) != 0) inverseDeviation[row.index] = inverse;
  }

  float factor = 0.0, shift = 0.0;
  const bool oneChannel = channels > 0u && push.rowChannels == 1u;
  if (extent > 0u && oneChannel) {
    factor = LOAD(scale, row.index % channels);
    if (push.hasBias != 0) shift = LOAD(bias, row.index % channels);
  }
  const uint span = push.extent / push.rowChannels, groups = channels / push.rowChannels;
  const uint firstChannel = channels == 0u ? 0u : row.index % groups * push.rowChannels;
  EACH_OF_ROW(i, extent)
    if (!oneChannel) {
      const uint column = firstChannel + i / (channels == 0u ? 1u : span);
      factor = LOAD(scale, column);
      if (push.hasBias != 0) shift = LOAD(bias, column);
    }
    rowOut(row, i, ((rowIn(row, i) - average) - correction) * inverse * factor + shift);
  END_OF_ROW
  storeRows(row);
}
