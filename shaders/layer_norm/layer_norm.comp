// Rows of `extent` elements normalised to mean 0 and variance 1, scaled and shifted; LayerNormalization and
// InstanceNormalization. A team per row; two passes for the statistics (a one-pass variance cancels when the mean is
// large), one to write, over shared memory where rows fit into it. Elements are multiplied by a power of two first, so
// that their squares neither overflow nor vanish. Driven by ops/layer_norm/layer_norm_vulkan.cpp.
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
TEAM_FOLD(teamSums, vec2, ROW_ADD)

/// The exponent of the factor for the elements of a row. Centred: their mean magnitude, or the root of epsilon if it is
/// larger, becomes about 1.
int exponentOfMagnitude(float magnitude) {
  const uint bits = floatBitsToUint(max(magnitude, sqrt(abs(push.epsilon))));
  return clamp(127 - int(bits >> 23), -126, 126);
}
/// Not centred: 0, unless the sum of squares is no number, or so small that some may have vanished and epsilon does not
/// outweigh them.
int exponentOfSquares(float squares) {
  if (isNan(squares) || isInf(squares)) return -96;
  return max(squares, push.epsilon) < 8.2718061255302767e-25 ? 96 : 0;  // 2^-80
}

void main() {
  const Row row = keepRows(push.rows, push.extent, 1u);
  const uint extent = row.extent, channels = push.channels;
  const float count = float(push.extent);
  const bool isCentred = push.centred != 0;

  // Shares of elements: their sum is below the largest of them. Without a mean the squares, in a first attempt.
  const int shareExponent = findMSB(push.extent) + 2;
  const float share = powerOfTwo(-shareExponent);
  vec2 sum = kNoBlocks;
  float part = 0.0, magnitude = 0.0;
  BLOCKS_OF_ROW(i, extent)
    const float value = rowIn(row, i);
    part += value * (isCentred ? share : value);
    magnitude += abs(value) * share;
  END_OF_BLOCK
    addBlock(sum, part);
  END_OF_BLOCKS
  const vec2 first = teamSums(vec2(sumOfBlocks(sum), magnitude));
#ifdef STORAGE_F16
  const int exponent = 0;  // the squares of halves are far from the limits of f32
#else
  const int exponent = isCentred ? exponentOfMagnitude(first.y) : exponentOfSquares(first.x);
#endif
  const float factorOfRow = powerOfTwo(exponent);
  const float average = isCentred ? first.x * factorOfRow * (powerOfTwo(shareExponent) / count) : 0.0;

  // If the mean is much larger than the deviation, its rounding error would affect every element. The mean of the
  // centred elements corrects it.
  vec2 squares = kNoBlocks, rest = kNoBlocks;
  float left = 0.0;
  const uint squared = isCentred || exponent != 0 ? extent : 0u;
  BLOCKS_OF_ROW(i, squared)
    const float centred = rowIn(row, i) * factorOfRow - average;
    part += centred * centred;
    left += centred;
  END_OF_BLOCK
    addBlock(squares, part);
    addBlock(rest, left);
  END_OF_BLOCKS
  const vec2 second = teamSums(vec2(sumOfBlocks(squares), sumOfBlocks(rest)));
  const float total = isCentred || exponent != 0 ? second.x : first.x;
  const float correction = isCentred ? second.y / count : 0.0;
  const float variance = max(total / count - correction * correction, 0.0);
  float epsilon = push.epsilon * factorOfRow * factorOfRow;
  if (push.epsilon > 0.0) epsilon = max(epsilon, 1.1754943508222875e-38);  // 2^-126: of equal elements it alone is left
  const float inverse = isNan(total) ? total : 1.0 / sqrt(variance + epsilon);
  if (extent > 0u && teamLane() == 0u) {
    if ((push.statistics & 1u) != 0) mean[row.index] = (average + correction) * powerOfTwo(-exponent);
    if ((push.statistics & 2u) != 0) inverseDeviation[row.index] = inverse * factorOfRow;
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
    rowOut(row, i, ((rowIn(row, i) * factorOfRow - average) - correction) * inverse * factor + shift);
  END_OF_ROW
  storeRows(row);
}
