// Each output is the sum, over the taps that a table names along each axis, of the product of their weights and the
// element. An invocation gives a column of outputs and keeps the sums along the last axis that it has made: the next
// output reads most of them again. Sums are double for f64 and for integers. Driven by
// ops/resize/resize_vulkan.cpp.
//! variant STORAGE: f32 f16 f64 i8 u8 i16 u16 i32 u32
#version 450
#include "common.glsl"
#include "storage.glsl"

layout(constant_id = 0) const uint firstAxis = 0;  // axes before it have extent 1; at most 4
layout(constant_id = 1) const uint rowsEach = 1;
layout(constant_id = 2) const uint columnTaps = 0;  // of the last axis, if they are at most kFewTaps; else 0
layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer X { STORAGE x[]; };
layout(binding = 1) readonly buffer Table { uint table[]; };  // of an axis: positions, weights (their low words, high words)
layout(binding = 2) writeonly buffer Y { STORAGE y[]; };

#if defined(STORAGE_F32) || defined(STORAGE_F16)
#define SUM float
#define BITS_TO_SUM(low, high) uintBitsToFloat(low)
const uint kWeightWords = 1;
#else
#define SUM double
#define BITS_TO_SUM(low, high) packDouble2x32(uvec2(low, high))
const uint kWeightWords = 2;
#endif
#if defined(STORAGE_F32) || defined(STORAGE_F16) || defined(STORAGE_F64)
#define FINISH(value) (value)
#else
// Toward zero, but a sum just below a whole number is that number.
#define FINISH(value) clamp(trunc((value) + ((value) < SUM(0) ? SUM(-0.001lf) : SUM(0.001lf))), kLow, kHigh)
#endif
#if defined(STORAGE_I8)
const SUM kLow = SUM(-128), kHigh = SUM(127);
#elif defined(STORAGE_U8)
const SUM kLow = SUM(0), kHigh = SUM(255);
#elif defined(STORAGE_I16)
const SUM kLow = SUM(-32768), kHigh = SUM(32767);
#elif defined(STORAGE_U16)
const SUM kLow = SUM(0), kHigh = SUM(65535);
#elif defined(STORAGE_I32)
const SUM kLow = SUM(-2147483648.0), kHigh = SUM(2147483647.0lf);
#elif defined(STORAGE_U32)
const SUM kLow = SUM(0), kHigh = SUM(4294967295.0lf);
#endif

#include "resample_places.glsl"

const uint kFewTaps = 4;  // of linear and cubic interpolation
const uint kKept = 4;     // sums along rows

SUM weightOf(uint d, uint tap, uint o) {
  const uint words = push.taps[d] * push.outputs[d];
  const uint at = push.first[d] + words + tap * push.outputs[d] + o;
  return BITS_TO_SUM(table[at], table[at + (kWeightWords - 1u) * words]);
}

uint columnAt[kFewTaps];  // positions and weights of the taps along the last axis
SUM columnWeight[kFewTaps];

SUM elementAt(Place place, uint row, uint column) {
  return SUM(LOAD(x, (row * push.inputs[kColumn] + column) * push.inner + place.inner));
}

/// Along the last axis of input row `row`, counted among all rows.
SUM rowSum(Place place, uint row) {
  SUM sum = SUM(0);
  if (columnTaps == 0u) {
    for (uint c = 0u; c < push.taps[kColumn]; ++c)
      sum += weightOf(kColumn, c, place.column) * elementAt(place, row, positionOf(kColumn, c, place.column));
  } else {
    for (uint c = 0u; c < columnTaps; ++c) sum += columnWeight[c] * elementAt(place, row, columnAt[c]);
  }
  return sum;
}

uint keptRow[kKept];  // the latest first
SUM keptSum[kKept];

SUM keptRowSum(Place place, uint row) {
  for (uint k = 0u; k < kKept; ++k)
    if (keptRow[k] == row) return keptSum[k];
  for (uint k = kKept - 1u; k > 0u; --k) {
    keptRow[k] = keptRow[k - 1u];
    keptSum[k] = keptSum[k - 1u];
  }
  keptRow[0] = row;
  keptSum[0] = rowSum(place, row);
  return keptSum[0];
}

/// Over the taps of the last two axes; `block` is the number of a plane of them.
SUM planeSum(Place place, uint row, uint block) {
  SUM sum = SUM(0);
  for (uint b = 0u; b < push.taps[kRow]; ++b)
    sum += weightOf(kRow, b, row) * keptRowSum(place, block * push.inputs[kRow] + positionOf(kRow, b, row));
  return sum;
}

/// Over all taps; those of the axes 0 to 3 are walked as one number.
SUM sumOf(Place place, uint row) {
  if (firstAxis >= kRow) return planeSum(place, row, place.outer);
  uint walks = 1u;
  for (uint d = firstAxis; d < kRow; ++d) walks *= push.taps[d];
  SUM sum = SUM(0);
  for (uint t = 0u; t < walks; ++t) {
    uint block = place.outer, rest = t, stride = walks;
    SUM weight = SUM(1);
    for (uint d = firstAxis; d < kRow; ++d) {
      stride /= push.taps[d];
      const uint tap = rest / stride;
      rest %= stride;
      block = block * push.inputs[d] + positionOf(d, tap, place.spot[d]);
      weight *= weightOf(d, tap, place.spot[d]);
    }
    sum += weight * planeSum(place, row, block);
  }
  return sum;
}

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  const Place place = placeOf(i);
  for (uint c = 0u; c < columnTaps; ++c) {
    columnAt[c] = positionOf(kColumn, c, place.column);
    columnWeight[c] = weightOf(kColumn, c, place.column);
  }
  for (uint k = 0u; k < kKept; ++k) keptRow[k] = kOutside;
#ifdef STORAGE_F64
  const SUM outside = packDouble2x32(uvec2(push.outside[0], push.outside[1]));
#else
  const SUM outside = SUM(uintBitsToFloat(push.outside[0]));
#endif
  for (uint r = 0u; r < rowsEach; ++r) {
    const uint row = place.firstRow + r;
    if (row >= push.outputs[kRow]) break;
    const SUM sum = isInside(place, row) ? sumOf(place, row) : outside;
    STORE(y, outputAt(place, row), FINISH(sum));
  }
}
