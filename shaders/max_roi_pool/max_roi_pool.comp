// Regions of images, cut into bins: the largest element of each; a NaN wins. One invocation per bin of a channel. An
// image outside [0, lastImage] is clamped and reported. Driven by ops/max_roi_pool/max_roi_pool_vulkan.cpp.
//! variant STORAGE: f32 f16 f64
#version 450
#include "common.glsl"
#include "storage.glsl"

layout(local_size_x = 64) in;

const ARITH kFarthest = ARITH(16777216);

layout(binding = 0) readonly buffer X { STORAGE x[]; };
layout(binding = 1) readonly buffer Rois { STORAGE rois[]; };
layout(binding = 2) writeonly buffer Y { STORAGE y[]; };
layout(binding = 3) buffer Bad { int bad[]; };
#include "report.glsl"

layout(push_constant) uniform Push {
  uint count;
  uint lastImage;
  uint channels;
  uint height;
  uint width;
  uint rows;  // bins of a region
  uint columns;
  float spatialScale;
} push;

/// Rounded to the nearest element; halves away from zero.
int placeOf(ARITH coordinate) {
  precise ARITH at = coordinate * ARITH(push.spatialScale);
  if (!(at > -kFarthest)) return -int(kFarthest);
  const ARITH size = min(abs(at), kFarthest), whole = floor(size);
  const int nearest = int(whole) + (size - whole >= ARITH(0.5) ? 1 : 0);
  return int(sign(at)) * nearest;
}

/// part * length / bins, rounded down or up. No product exceeds 2^32.
int shareOf(uint part, uint length, uint bins, uint up) {
  return int(part * (length / bins) + (part * (length % bins) + up) / bins);
}

/// The elements of a bin that the image has, half open.
ivec2 rangeOf(ARITH low, ARITH high, uint bins, uint bin, uint extent) {
  const int start = placeOf(low);
  const uint size = uint(max(placeOf(high) - start + 1, 1));
  const ivec2 range = start + ivec2(shareOf(bin, size, bins, 0u), shareOf(bin + 1u, size, bins, bins - 1u));
  return clamp(range, ivec2(0), ivec2(extent));
}

uint imageOf(uint region) {
  const ARITH given = LOAD(rois, 5u * region), most = ARITH(1e9);
  return uint(checkedRange(isnan(given) ? -1 : int(clamp(given, -most, most)), int(push.lastImage)));
}

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  const uint column = i % push.columns, row = i / push.columns % push.rows;
  const uint plane = i / push.columns / push.rows, region = plane / push.channels;
  const uint image = imageOf(region) * push.channels + plane % push.channels;
  const ivec2 down = rangeOf(LOAD(rois, 5u * region + 2u), LOAD(rois, 5u * region + 4u), push.rows, row, push.height);
  const ivec2 across =
      rangeOf(LOAD(rois, 5u * region + 1u), LOAD(rois, 5u * region + 3u), push.columns, column, push.width);
  ARITH best = ARITH(0);
  bool isFirst = true;
  for (int h = down.x; h < down.y; ++h) {
    const uint line = (image * push.height + uint(h)) * push.width;
    for (int w = across.x; w < across.y; ++w) {
      const ARITH value = LOAD(x, line + uint(w));
      if (isFirst || (!isnan(best) && !(value <= best))) best = value;
      isFirst = false;
    }
  }
  STORE(y, i, best);
}
