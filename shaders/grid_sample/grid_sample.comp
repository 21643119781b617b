// Images sampled at the places of a grid. An invocation finds the elements and weights of one place along each axis and
// sums them for several channels. Missing axes come first and have extent 1. Places are computed in the precision of the
// grid without contractions: the nearest element must not depend on the device. Driven by
// ops/grid_sample/grid_sample_vulkan.cpp.
//! variant STORAGE: f32 f16 f64
//! variant GRID: f32 f16 f64
#version 450
#include "common.glsl"
#include "storage.glsl"

layout(constant_id = 0) const uint axes = 2;
layout(constant_id = 1) const uint mode = 0;
layout(constant_id = 2) const uint padding = 0;
layout(constant_id = 3) const bool alignCorners = false;
layout(local_size_x = 64) in;

const uint kLinear = 0, kNearest = 1;
const uint kZeros = 0, kBorder = 1, kReflection = 2;

layout(binding = 0) readonly buffer X { STORAGE x[]; };
layout(binding = 1) readonly buffer Grid { GRID_TYPE grid[]; };
layout(binding = 2) writeonly buffer Y { STORAGE y[]; };

layout(push_constant) uniform Push {
  uint count;
  uint positions;
  uint channels;
  uint channelsEach;
  uint parts;  // of the channels
  uint inputs[3];
} push;

#define PLACE GRID_ARITH

/// Elements along an axis; a weight of 0 for one that counts as 0.
uint tapAt[3][4];
ARITH tapWeight[3][4];

PLACE reflectedPlace(PLACE at, PLACE low, PLACE high) {
  const PLACE range = high - low;
  if (!(range > PLACE(0))) return low;
  const bool isBelow = at < low;
  const PLACE away = isBelow ? low - at : at - high;
  if (!(away > PLACE(0))) return at;
  const PLACE times = floor(away / range);
  precise PLACE rest = away - times * range;
  const bool isOdd = times - PLACE(2) * floor(times * PLACE(0.5)) != PLACE(0);
  return isBelow == isOdd ? high - rest : low + rest;
}

PLACE placeOf(PLACE coordinate, uint extent) {
  const PLACE size = PLACE(extent), last = size - PLACE(1);
  const PLACE low = alignCorners ? PLACE(0) : PLACE(-0.5), high = alignCorners ? last : size - PLACE(0.5);
  precise PLACE moved = coordinate + PLACE(1);
  precise PLACE scaled = alignCorners ? moved * PLACE(0.5) * last : moved * size;
  precise PLACE at = alignCorners ? scaled : (scaled - PLACE(1)) * PLACE(0.5);
  if (mode == kNearest) at = roundEven(at);
  if (padding == kBorder) at = at < low ? PLACE(0) : at > high ? last : at;
  if (padding == kReflection) at = reflectedPlace(at, low, high);
  if (!(at > PLACE(-3))) at = PLACE(-3);  // NaN too
  return min(at, size + PLACE(2));
}

/// The element that counts for position `at`; -1 for one that counts as 0.
int insideOf(int at, int extent) {
  if (at >= 0 && at < extent) return at;
  if (padding == kZeros) return -1;
  if (padding == kBorder || extent == 1) return clamp(at, 0, extent - 1);
  const int edge = alignCorners ? 0 : 1, period = 2 * (extent - 1 + edge);
  int phase = at % period;
  if (phase < 0) phase += period;
  return phase < extent ? phase : period - phase - edge;
}

void setTap(uint d, uint k, int at, ARITH weight) {
  const int inside = insideOf(at, int(push.inputs[d]));
  tapAt[d][k] = uint(max(inside, 0));
  tapWeight[d][k] = inside < 0 ? ARITH(0) : weight;
}

void setTaps(uint d, PLACE coordinate) {
  const PLACE at = placeOf(coordinate, push.inputs[d]);
  const PLACE below = floor(at);
  const int first = int(below);
#ifdef GRID_F64
  const ARITH part = ARITH(at - below);
#else
  const ARITH part = ARITH(at) - ARITH(below);
#endif
  const ARITH rest = ARITH(1) - part;
  if (mode == kNearest) {
    setTap(d, 0u, int(roundEven(at)), ARITH(1));
  } else if (mode == kLinear) {
    setTap(d, 0u, first, rest);
    setTap(d, 1u, first + 1, part);
  } else {
    const ARITH a = ARITH(-0.75);
    setTap(d, 0u, first - 1, a * part * rest * rest);
    setTap(d, 1u, first, rest * (ARITH(1) + part - (a + ARITH(2)) * part * part));
    setTap(d, 2u, first + 1, part * (ARITH(1) + rest - (a + ARITH(2)) * rest * rest));
    setTap(d, 3u, first + 2, a * rest * part * part);
  }
}

ARITH sampleOf(uint plane) {
  const uint taps = mode == kNearest ? 1u : mode == kLinear ? 2u : 4u;
  ARITH sum = ARITH(0);
  for (uint a = 0u; a < (axes > 2u ? taps : 1u); ++a) {
    for (uint b = 0u; b < (axes > 1u ? taps : 1u); ++b) {
      const ARITH weight = tapWeight[0][a] * tapWeight[1][b];
      if (weight == ARITH(0)) continue;
      const uint line = ((plane * push.inputs[0] + tapAt[0][a]) * push.inputs[1] + tapAt[1][b]) * push.inputs[2];
      for (uint c = 0u; c < taps; ++c)
        if (tapWeight[2][c] != ARITH(0)) sum += weight * tapWeight[2][c] * LOAD(x, line + tapAt[2][c]);
    }
  }
  return sum;
}

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  const uint position = i % push.positions, part = i / push.positions % push.parts;
  const uint image = i / push.positions / push.parts;
  for (uint d = 0u; d < 3u; ++d) {
    tapAt[d][0] = 0u;
    tapWeight[d][0] = ARITH(1);
  }
  // Coordinates come innermost first.
  for (uint k = 0u; k < axes; ++k) setTaps(2u - k, GRID_LOAD(grid, (image * push.positions + position) * axes + k));
  for (uint c = 0u; c < push.channelsEach; ++c) {
    const uint channel = part * push.channelsEach + c;
    if (channel >= push.channels) break;
    const uint plane = image * push.channels + channel;
    STORE(y, plane * push.positions + position, sampleOf(plane));
  }
}
