// Regions of images, cut into bins: the mean or the maximum of samples between elements. One invocation per bin of a
// channel. Places are computed in the precision of the regions without contractions: which samples count must not
// depend on the device. An image outside [0, lastImage] is clamped and reported. Driven by ops/roi_align/roi_align_vulkan.cpp.
//! variant STORAGE: f32 f16 f64
#version 450
#include "common.glsl"
#include "storage.glsl"

layout(constant_id = 0) const bool isMaximum = false;
layout(constant_id = 1) const bool halfPixel = true;
layout(local_size_x = 64) in;

const ARITH kMostSamples = ARITH(1024);

layout(binding = 0) readonly buffer X { STORAGE x[]; };
layout(binding = 1) readonly buffer Rois { STORAGE rois[]; };
layout(binding = 2) readonly buffer Images { ivec2 images[]; };  // low word, high word
layout(binding = 3) writeonly buffer Y { STORAGE y[]; };
layout(binding = 4) buffer Bad { int bad[]; };
#include "report.glsl"

layout(push_constant) uniform Push {
  uint count;
  uint lastImage;
  uint channels;
  uint height;
  uint width;
  uint rows;  // bins of a region
  uint columns;
  uint samplingRatio;
  float spatialScale;
} push;

/// One bin along an axis.
struct Side {
  ARITH start;
  ARITH bin;  // width
  uint samples;
};

Side sideOf(ARITH low, ARITH high, uint bins, uint index) {
  const ARITH offset = halfPixel ? ARITH(0.5) : ARITH(0), factor = ARITH(push.spatialScale);
  precise ARITH start = low * factor - offset;
  precise ARITH end = high * factor - offset;
  precise ARITH size = end - start;
  if (!halfPixel) size = max(size, ARITH(1));
  const ARITH bin = size / ARITH(bins);
  uint samples = push.samplingRatio;
  if (samples == 0u && bin > ARITH(0)) samples = uint(ceil(min(bin, kMostSamples)));
  precise ARITH first = start + ARITH(index) * bin;
  return Side(first, bin, samples);
}

/// Neighbours of a sample and their weights, which are 0 where it lies outside.
struct Pair {
  uint low, high;
  ARITH near, far;
};

Pair pairOf(Side side, uint k, uint extent) {
  precise ARITH within = (ARITH(k) + ARITH(0.5)) * side.bin;
  precise ARITH place = side.start + within / ARITH(side.samples);
  if (!(place >= ARITH(-1)) || place > ARITH(extent)) return Pair(0u, 0u, ARITH(0), ARITH(0));
  const ARITH at = max(place, ARITH(0));
  const uint low = uint(at);
  if (low >= extent - 1u) return Pair(extent - 1u, extent - 1u, ARITH(1), ARITH(0));
  const ARITH far = at - ARITH(low);
  return Pair(low, low + 1u, ARITH(1) - far, far);
}

uint imageOf(uint region) {
  const ivec2 given = images[region];
  return uint(checkedRange(saturated(given.x, given.y), int(push.lastImage)));
}

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  const uint column = i % push.columns, row = i / push.columns % push.rows;
  const uint plane = i / push.columns / push.rows, region = plane / push.channels;
  const uint first = (imageOf(region) * push.channels + plane % push.channels) * push.height * push.width;
  const Side down = sideOf(LOAD(rois, 4u * region + 1u), LOAD(rois, 4u * region + 3u), push.rows, row);
  const Side across = sideOf(LOAD(rois, 4u * region), LOAD(rois, 4u * region + 2u), push.columns, column);
  ARITH sum = ARITH(0), largest = ARITH(0);
  for (uint v = 0u; v < down.samples; ++v) {
    const Pair vertical = pairOf(down, v, push.height);
    const uint low = first + vertical.low * push.width, high = first + vertical.high * push.width;
    for (uint h = 0u; h < across.samples; ++h) {
      const Pair horizontal = pairOf(across, h, push.width);
      const ARITH a = vertical.near * horizontal.near * LOAD(x, low + horizontal.low),
                  b = vertical.near * horizontal.far * LOAD(x, low + horizontal.high),
                  c = vertical.far * horizontal.near * LOAD(x, high + horizontal.low),
                  d = vertical.far * horizontal.far * LOAD(x, high + horizontal.high);
      sum += a + b + c + d;
      const ARITH most = max(max(a, b), max(c, d));
      largest = v + h == 0u ? most : max(largest, most);
    }
  }
  const uint samples = max(down.samples * across.samples, 1u);
  STORE(y, i, isMaximum ? largest : sum / ARITH(samples));
}
