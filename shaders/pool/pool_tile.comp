// As pool.comp, for devices that read memory by the sector: a work group computes a block of outputs of one or several
// planes from the inputs that their windows cover, which it loads once into shared memory, by neighbours. Columns are
// stored stride by stride, so that windows side by side read different banks. Driven by ops/pool/pool_tile_vulkan.cpp.
//! variant STORAGE: f32 f16
//! variant MODE: maximum mean norm
#version 450
#include "common.glsl"
#include "storage.glsl"
#include "mean.glsl"
#include "pool_norm.glsl"

layout(constant_id = 0) const uint tileElements = 4096;
layout(local_size_x = 256) in;

layout(binding = 0) readonly buffer X { STORAGE x[]; };
layout(binding = 1) writeonly buffer Y { STORAGE y[]; };

layout(push_constant) uniform Push {
  uint planes;
  uint countPadding;
  float power;     // of the norm
  uint inputs[3];  // extents, outermost first
  uint outputs[3];
  uint kernel[3];
  int stride[3];
  int dilation[3];
  int padBegin[3];
  int padEnd[3];
  uint block[3];  // outputs of a group
  uint blockPlanes;
  uint lane;   // columns of one remainder by the stride in the tile
  uint pitch;  // of its lines
} push;

shared float tile[tileElements];

/// One axis of a group's block.
struct Axis {
  uint first;  // output
  uint count;  // of outputs
  int start;   // input position of the first window; may lie in the padding
  int low;     // first input that is loaded
  uint loaded;
  uint span;  // positions that the windows cover
};

Axis axisOf(uint d, uint index) {
  Axis axis;
  axis.first = index * push.block[d];
  axis.count = min(push.block[d], push.outputs[d] - axis.first);
  axis.start = int(axis.first) * push.stride[d] - push.padBegin[d];
  axis.span = uint(int(push.block[d] - 1u) * push.stride[d] + int(push.kernel[d] - 1u) * push.dilation[d]) + 1u;
  axis.low = max(axis.start, 0);
  const int end = min(axis.start + int(axis.span), int(push.inputs[d]));
  axis.loaded = uint(max(end - axis.low, 0));
  return axis;
}

/// The loaded position nearest to position `at` of the block; both count from the first window's start.
int nearest(Axis axis, int at) {
  const int low = axis.low - axis.start;
  return clamp(at, low, low + int(axis.loaded) - 1);
}

/// Taps of the window at output `o` that lie in the input or its declared padding.
uint paddedTaps(uint d, uint o) {
  const int start = int(o) * push.stride[d] - push.padBegin[d];
  uint taps = 0u;
  for (uint k = 0u; k < push.kernel[d]; ++k)
    if (start + int(k) * push.dilation[d] < int(push.inputs[d]) + push.padEnd[d]) ++taps;
  return taps;
}

/// Where position (plane, z, row, column) of the block lies in the tile; positions count from the first window's start.
uint slotOf(uint plane, uint z, uint row, uint column, Axis depth, Axis height) {
  const uint step = uint(push.stride[2]), line = (plane * depth.span + z) * height.span + row;
  return line * push.pitch + column % step * push.lane + column / step;
}

struct Window {
  float result;  // the maximum, the sum, or the sum of powers
  float hugeSum;
  float largest;  // magnitude, for norms
  uint inside;    // taps on the input
};

/// Folds the window of output (oz, oy, ox) of the block; elements of norms divided by `divisor`. Every invocation reads
/// at every tap, so that a subgroup stays together; in the padding, the nearest input.
Window foldOf(uint plane, uint oz, uint oy, uint ox, Axis depth, Axis height, Axis width, float divisor) {
  uint inside = 0u;
#ifdef MODE_MAXIMUM
  float result = uintBitsToFloat(0xFF800000u);  // of no elements
#else
  float result = 0.0;
#endif
  float hugeSum = 0.0, largest = 0.0;
  const uint kernelDepth = depth.loaded * height.loaded * width.loaded > 0u ? push.kernel[0] : 0u;
  for (uint kd = 0u; kd < kernelDepth; ++kd) {
    const int z = int(oz) * push.stride[0] + int(kd) * push.dilation[0], nearZ = nearest(depth, z);
    for (uint kh = 0u; kh < push.kernel[1]; ++kh) {
      const int row = int(oy) * push.stride[1] + int(kh) * push.dilation[1], nearRow = nearest(height, row);
      for (uint kw = 0u; kw < push.kernel[2]; ++kw) {
        const int column = int(ox) * push.stride[2] + int(kw) * push.dilation[2], nearColumn = nearest(width, column);
        const bool present = z == nearZ && row == nearRow && column == nearColumn;
        const float value = tile[slotOf(plane, uint(nearZ), uint(nearRow), uint(nearColumn), depth, height)];
#ifdef MODE_MAXIMUM
        if (present && !isnan(result) && (value > result || isnan(value))) result = value;
#elif defined(MODE_MEAN)
        addToMean(present ? value : 0.0, result, hugeSum);
        inside += present ? 1u : 0u;
#else
        if (present) result += powerOf(value, divisor, push.power);
        if (present) largest = max(largest, abs(value));
#endif
      }
    }
  }
  return Window(result, hugeSum, largest, inside);
}

void main() {
  const uint local = gl_LocalInvocationIndex;
  const uint across = ceilDiv(push.outputs[2], push.block[2]), down = ceilDiv(push.outputs[1], push.block[1]),
             deep = ceilDiv(push.outputs[0], push.block[0]);
  const uint group = linearIndex() / gl_WorkGroupSize.x;
  const uint firstPlane = group / across / down / deep * push.blockPlanes;
  const Axis depth = axisOf(0u, group / across / down % deep), height = axisOf(1u, group / across % down),
             width = axisOf(2u, group % across);
  const uint planes = firstPlane < push.planes ? min(push.blockPlanes, push.planes - firstPlane) : 0u;

  const uint elements = planes * depth.loaded * height.loaded * width.loaded;
  // Neighbours begin at a multiple of 32 elements, if rows are whole: sectors are then read and written whole.
  const uint skipped = ((firstPlane * push.inputs[0] + uint(depth.low)) * push.inputs[1] + uint(height.low)) *
                       push.inputs[2] % 32u;
  for (uint at = local; at < elements + skipped; at += gl_WorkGroupSize.x) {
    if (at < skipped) continue;
    const uint e = at - skipped;
    const uint column = e % width.loaded, line = e / width.loaded, row = line % height.loaded,
               sheet = line / height.loaded, z = sheet % depth.loaded, plane = sheet / depth.loaded;
    const uint from = (((firstPlane + plane) * push.inputs[0] + uint(depth.low) + z) * push.inputs[1] +
                       uint(height.low) + row) * push.inputs[2] + uint(width.low) + column;
    tile[slotOf(plane, z + uint(depth.low - depth.start), row + uint(height.low - height.start),
                column + uint(width.low - width.start), depth, height)] = LOAD(x, from);
  }
  barrier();

  const uint count = planes * depth.count * height.count * width.count;
  const uint before = ((firstPlane * push.outputs[0] + depth.first) * push.outputs[1] + height.first) *
                      push.outputs[2] % 32u;
  for (uint at = local; at < count + before; at += gl_WorkGroupSize.x) {
    if (at < before) continue;
    const uint o = at - before;
    const uint ox = o % width.count, line = o / width.count, oy = line % height.count, sheet = line / height.count,
               oz = sheet % depth.count, plane = sheet / depth.count;
    const Window window = foldOf(plane, oz, oy, ox, depth, height, width, 1.0);
    const uint z = depth.first + oz, row = height.first + oy, column = width.first + ox;
#ifdef MODE_MAXIMUM
    const float result = window.result;
#elif defined(MODE_MEAN)
    const uint padded = push.countPadding != 0u ? paddedTaps(0u, z) * paddedTaps(1u, row) * paddedTaps(2u, column)
                                                : window.inside;
    const float result = meanOf(window.result, window.hugeSum, float(max(padded, 1u)));
#else
    const float divisor = divisorOf(window.result, window.largest);
    float result = rootOf(window.result, push.power);
    if (divisor != 1.0)
      result = divisor * rootOf(foldOf(plane, oz, oy, ox, depth, height, width, divisor).result, push.power);
#endif
    STORE(y, (((firstPlane + plane) * push.outputs[0] + z) * push.outputs[1] + row) * push.outputs[2] + column, result);
  }
}
