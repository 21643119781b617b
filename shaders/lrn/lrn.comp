// x / (bias + alpha/size * sum of squares over neighbouring channels)^beta. A team per
// element walks its window.
// Driven by ops/lrn/lrn_vulkan.cpp.
//! variant STORAGE: f32 f16
#version 450
#include "storage.glsl"
#include "rows.glsl"

layout(binding = 0) readonly buffer X { STORAGE x[]; };
layout(binding = 1) writeonly buffer Y { STORAGE y[]; };

layout(push_constant) uniform Push {
  uint count;
  uint channels;
  uint inner;
  uint before;
  uint after;
  float scale;  // alpha/size
  float beta;
  float bias;
} push;

TEAM_FOLD(teamSum, float, ROW_ADD)

// base^exponent for a positive normal base: relative error below (2 + |exponent * ln base|) * 2^-23. The built-in pow
// may be off by 2^-21 near base 1, the usual range here. log by 2*atanh((m-1)/(m+1)), its series cut after s^9 (|s| <
// 0.172); exp after Cody and Waite's reduction, its series cut after r^7 (|r| < 0.347).
float accuratePow(float base, float exponent) {
  if (isNan(base)) return base;  // the built-in may lose it
  if (!(base >= 1.1754944e-38 && base <= 3.4028235e38)) return pow(base, exponent);
  const int bits = floatBitsToInt(base) - 0x3F3504F3;  // sqrt(1/2): the mantissa ends up in [0.707, 1.414)
  const int power = bits >> 23;
  const float m = intBitsToFloat((bits & 0x7FFFFF) + 0x3F3504F3);
  const float s = (m - 1.0) / (m + 1.0), q = s * s;
  const float series = q * (0.33333333 + q * (0.2 + q * (0.14285714 + q * 0.11111111)));
  const float logarithm = float(power) * 0.69314718 + 2.0 * (s + s * series);
  const float t = exponent * logarithm;
  if (abs(t) > 80.0) return exp(t);
  const float n = round(t * 1.44269504);
  const float r = (t - n * 0.693359375) + n * 2.12194440e-4;
  const float e =
      1.0 + r * (1.0 + r * (0.5 + r * (0.16666667 + r * (0.041666667 + r * (8.3333333e-3 + r * (1.3888889e-3 + r * 1.984127e-4))))));
  return intBitsToFloat(floatBitsToInt(e) + (int(n) << 23));
}

void main() {
  const uint i = teamRow();
  const uint inner = push.inner, channels = push.channels;
  const uint c = i / inner % channels;
  const uint first = c - min(c, push.before), last = min(channels - 1u, c + push.after);
  const uint window = i < push.count ? last - first + 1u : 0u;
  vec2 sum = kNoBlocks;
  float part = 0.0;
  BLOCKS_OF_ROW(n, window)
    const float value = LOAD(x, i + (first + n) * inner - c * inner);
    part += value * value;
  END_OF_BLOCK
    addBlock(sum, part);
  END_OF_BLOCKS
  const float squares = teamSum(sumOfBlocks(sum));
  if (window > 0u && teamLane() == 0u)
    STORE(y, i, LOAD(x, i) / accuratePow(push.bias + push.scale * squares, push.beta));
}
