// Regions of images, cut into bins: the mean or the maximum of samples between elements. One invocation per bin of a
// channel, or a team where a bin has very many samples. Samples outside the image are 0 and are not walked. Places are computed in the precision of the regions without contractions: which samples count must not
// depend on the device. An image outside [0, lastImage] is clamped and reported. Driven by ops/roi_align/roi_align_vulkan.cpp.
//! variant STORAGE: f32 f16 f64
#version 450
#include "common.glsl"
#include "storage.glsl"
#include "math.glsl"

layout(constant_id = 0) const uint team = 1;  // a divisor of 64
layout(constant_id = 1) const bool isMaximum = false;
layout(constant_id = 2) const bool halfPixel = true;
layout(local_size_x = 64) in;

const ARITH kMostSamples = ARITH(1024);
#define kLeast ARITH(-kInfinity)

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
  if (!halfPixel && size < ARITH(1)) size = ARITH(1);  // max may turn NaN into 1
  const ARITH bin = size / ARITH(bins);
  uint samples = push.samplingRatio;
  if (samples == 0u && bin > ARITH(0)) samples = uint(ceil(min(bin, kMostSamples)));
  precise ARITH first = start + ARITH(index) * bin;
  return Side(first, bin, samples);
}

ARITH placeOf(Side side, uint k) {
  precise ARITH within = (ARITH(k) + ARITH(0.5)) * side.bin;
  precise ARITH place = side.start + within / ARITH(side.samples);
  return place;
}

bool isWithin(ARITH place, uint extent) { return place >= ARITH(-1) && place <= ARITH(extent); }

/// The samples [begin, end) of an adaptive grid that lie within the image, found by halving: its places ascend.
uvec2 withinOf(Side side, uint extent) {
  if (push.samplingRatio != 0u) return uvec2(0u, side.samples);
  uvec2 low = uvec2(0u), high = uvec2(side.samples);
  while (low.x < high.x) {
    const uint middle = (low.x + high.x) / 2u;
    if (placeOf(side, middle) >= ARITH(-1)) high.x = middle;
    else low.x = middle + 1u;
  }
  low.y = low.x;
  while (low.y < high.y) {
    const uint middle = (low.y + high.y) / 2u;
    if (placeOf(side, middle) <= ARITH(extent)) low.y = middle + 1u;
    else high.y = middle;
  }
  return low;
}

/// Neighbours of a sample and their weights.
struct Pair {
  uint low, high;
  ARITH near, far;
};

Pair pairOf(ARITH place, uint extent) {
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

/// What a bin, or a lane's share of it, came to.
struct Fold {
  ARITH sum, largest;
};

void addSamples(uint first, Side down, Side across, uint lane, inout Fold fold) {
  const uvec2 rows = withinOf(down, push.height), columns = withinOf(across, push.width);
  for (uint v = rows.x + lane; v < rows.y; v += team) {
    const ARITH y = placeOf(down, v);
    if (!isWithin(y, push.height)) continue;
    const Pair vertical = pairOf(y, push.height);
    const uint low = first + vertical.low * push.width, high = first + vertical.high * push.width;
    for (uint h = columns.x; h < columns.y; ++h) {
      const ARITH z = placeOf(across, h);
      if (!isWithin(z, push.width)) continue;
      const Pair horizontal = pairOf(z, push.width);
      const ARITH a = vertical.near * horizontal.near * LOAD(x, low + horizontal.low),
                  b = vertical.near * horizontal.far * LOAD(x, low + horizontal.high),
                  c = vertical.far * horizontal.near * LOAD(x, high + horizontal.low),
                  d = vertical.far * horizontal.far * LOAD(x, high + horizontal.high);
      fold.sum += a + b + c + d;
      fold.largest = max(fold.largest, max(max(a, b), max(c, d)));
    }
  }
}

shared ARITH sums[gl_WorkGroupSize.x];
shared ARITH maxima[gl_WorkGroupSize.x];

/// Of the whole team, for its lane 0. Called by all invocations of a group.
Fold foldOf(Fold part, uint lane) {
  if (team == 1u) return part;
  const uint at = gl_LocalInvocationIndex;
  sums[at] = part.sum;
  maxima[at] = part.largest;
  barrier();
  for (uint width = team / 2u; width > 0u; width /= 2u) {
    if (lane < width) {
      sums[at] += sums[at + width];
      maxima[at] = max(maxima[at], maxima[at + width]);
    }
    barrier();
  }
  return Fold(sums[at], maxima[at]);
}

/// Whether the first or the last sample lies outside: places ascend or descend.
bool leaves(Side side, uint extent) {
  return !isWithin(placeOf(side, 0u), extent) || !isWithin(placeOf(side, side.samples - 1u), extent);
}

void main() {
  const uint item = linearIndex(), i = item / team, lane = item % team;
  const uint column = i % push.columns, row = i / push.columns % push.rows;
  const uint plane = i / push.columns / push.rows, region = plane / push.channels;
  const bool inRange = i < push.count;
  Side down = Side(ARITH(0), ARITH(0), 0u), across = down;
  Fold fold = Fold(ARITH(0), kLeast);
  if (inRange) {
    down = sideOf(LOAD(rois, 4u * region + 1u), LOAD(rois, 4u * region + 3u), push.rows, row);
    across = sideOf(LOAD(rois, 4u * region), LOAD(rois, 4u * region + 2u), push.columns, column);
    const uint image = imageOf(region) * push.channels + plane % push.channels;
    addSamples(image * push.height * push.width, down, across, lane, fold);
  }
  fold = foldOf(fold, lane);
  if (!inRange || lane != 0u) return;
  const uint samples = down.samples * across.samples;
  if (samples == 0u) {
    STORE(y, i, ARITH(0));
    return;
  }
  if (leaves(down, push.height) || leaves(across, push.width)) fold.largest = max(fold.largest, ARITH(0));
  STORE(y, i, isMaximum ? fold.largest : fold.sum / ARITH(samples));
}
