// Convolution with one input channel per group on devices with fast shared memory. A work group makes a tile of outputs
// [tilePlanes][tileRows][tileColumns] from a patch of the input in shared memory, which it reads once. Weights are
// [channel][taps], as stored.
//
// The patch keeps the rows that one tap of all outputs reads together, and likewise the columns: element (iy, ix) lies in
// row iy % strideY * subRows + iy / strideY. `pitch` and `planePitch` are chosen so that neighbouring outputs, also across
// rows, read neighbouring banks. The grid is tiles, spread over x and y; tiles of a plane are neighbours. Driven by
// ops/conv/conv_depthwise_shared_vulkan.cpp.
//! variant STORAGE: f32 f16
#version 450
#include "common.glsl"
#include "storage.glsl"

const uint kGroup = 128u;
const uint kPatch = 3584u, kWeights = 512u;  // floats: kPatch and kWeights of the driver
layout(local_size_x = 128) in;

layout(binding = 0) readonly buffer X { STORAGE x[]; };
layout(binding = 1) readonly buffer W { STORAGE w[]; };
layout(binding = 2) readonly buffer Bias { STORAGE bias[]; };
layout(binding = 3) writeonly buffer Y { STORAGE y[]; };

layout(push_constant) uniform Push {
  uint planes;
  uint channels;    // of the output
  uint multiplier;  // output channels of one input channel
  uint inputs[2];   // extents: rows, columns
  uint outputs[2];
  uint kernel[2];
  int stride[2];
  int dilation[2];
  int padBegin[2];
  uint tilePlanes;
  uint tile[2];
  uint subRows;
  uint subColumns;
  uint pitch;
  uint planePitch;
  uint hasBias;
  float low;  // results are clamped to [low, high]
  float high;
} push;

shared float patch_[kPatch];
shared float weights[kWeights];

// a / b by floats, where `inverse` is 1 / b: exact if the quotient is below 2^22.
uint divide(uint a, uint b, float inverse) {
  const uint quotient = uint(float(a) * inverse);
  const int rest = int(a - quotient * b);
  return rest < 0 ? quotient - 1u : rest >= int(b) ? quotient + 1u : quotient;
}

// The part of the input's rows (axis 0) or columns (1) under a tile that begins at output `first`: its first position,
// which may lie in the padding, and the range inside the input.
struct Range {
  int origin;
  uint begin;
  uint count;
};
Range rangeOf(uint axis, uint first, uint tileExtent) {
  const int origin = int(first) * push.stride[axis] - push.padBegin[axis];
  const int extent = int(tileExtent - 1u) * push.stride[axis] + int(push.kernel[axis] - 1u) * push.dilation[axis] + 1;
  const int begin = clamp(origin, 0, int(push.inputs[axis]));
  return Range(origin, uint(begin), uint(clamp(origin + extent, begin, int(push.inputs[axis])) - begin));
}

uint placeInPatch(uint iy, uint ix) {
  const uint strideY = uint(push.stride[0]), strideX = uint(push.stride[1]);
  return (iy % strideY * push.subRows + iy / strideY) * push.pitch + ix % strideX * push.subColumns + ix / strideX;
}

void loadPatch(uint plane, uint planes, Range rows, Range columns) {
  const uint used = planes * push.planePitch;
  for (uint i = gl_LocalInvocationIndex; i < used; i += kGroup) patch_[i] = 0.0;  // the padding
  barrier();
  const uint height = push.inputs[0], width = push.inputs[1], area = rows.count * columns.count;
  const float perColumns = 1.0 / float(max(columns.count, 1u)), perArea = 1.0 / float(max(area, 1u));
  const uint first = (plane / push.multiplier * height + rows.begin) * width + columns.begin;
  const uint ahead = first % 8u;  // the first invocation is at the start of a sector of 8 floats
  for (uint i = gl_LocalInvocationIndex; i < planes * area + ahead; i += kGroup) {
    if (i < ahead) continue;
    const uint p = divide(i - ahead, area, perArea), rest = i - ahead - p * area;
    const uint r = divide(rest, columns.count, perColumns), c = rest - r * columns.count;
    patch_[p * push.planePitch + placeInPatch(uint(int(rows.begin + r) - rows.origin),
                                              uint(int(columns.begin + c) - columns.origin))] =
        LOAD(x, first + (p * height + r) * width + c);
  }
}

// The taps of each plane, and its bias behind them.
void loadWeights(uint plane, uint planes) {
  const uint taps = push.kernel[0] * push.kernel[1];
  const float perPlane = 1.0 / float(taps + 1u);
  for (uint i = gl_LocalInvocationIndex; i < planes * (taps + 1u); i += kGroup) {
    const uint p = divide(i, taps + 1u, perPlane), tap = i - p * (taps + 1u), channel = (plane + p) % push.channels;
    float value = 0.0;
    if (tap < taps) value = LOAD(w, channel * taps + tap);
    else if (push.hasBias != 0u) value = LOAD(bias, channel);
    weights[i] = value;
  }
}

float convolve(uint plane, uint row, uint column) {
  const uint kernelX = push.kernel[1];
  uint tap = plane * (push.kernel[0] * kernelX + 1u);
  float sum = 0.0;
  for (uint ky = 0u; ky < push.kernel[0]; ++ky) {
    // The outputs of a row of the tile lie one behind the other for every tap.
    const uint line = plane * push.planePitch + row * push.pitch + column;
    for (uint kx = 0u; kx < kernelX; ++kx, ++tap)
      sum += weights[tap] * patch_[line + placeInPatch(ky * uint(push.dilation[0]), kx * uint(push.dilation[1]))];
  }
  return sum + weights[tap];
}

void main() {
  const uint rows = push.outputs[0], columns = push.outputs[1];
  const uint rowTiles = ceilDiv(rows, push.tile[0]), columnTiles = ceilDiv(columns, push.tile[1]);
  const uint tile = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
  const uint firstColumn = tile % columnTiles * push.tile[1];
  const uint firstRow = tile / columnTiles % rowTiles * push.tile[0];
  const uint plane = tile / columnTiles / rowTiles * push.tilePlanes;
  if (plane >= push.planes) return;
  const uint planes = min(push.tilePlanes, push.planes - plane);
  loadPatch(plane, planes, rangeOf(0u, firstRow, push.tile[0]), rangeOf(1u, firstColumn, push.tile[1]));
  loadWeights(plane, planes);
  barrier();

  const uint area = push.tile[0] * push.tile[1];
  const float perArea = 1.0 / float(area), perColumns = 1.0 / float(push.tile[1]);
  const uint ahead = ((plane * rows + firstRow) * columns + firstColumn) % 8u;  // as in loadPatch
  for (uint i = gl_LocalInvocationIndex; i < planes * area + ahead; i += kGroup) {
    if (i < ahead) continue;
    const uint p = divide(i - ahead, area, perArea), rest = i - ahead - p * area;
    const uint r = divide(rest, push.tile[1], perColumns), c = rest - r * push.tile[1];
    if (firstRow + r >= rows || firstColumn + c >= columns) continue;
    const float value = convolve(p, r, c);
    STORE(y, ((plane + p) * rows + firstRow + r) * columns + firstColumn + c,
          value < push.low ? push.low : value > push.high ? push.high : value);  // a NaN stays
  }
}
