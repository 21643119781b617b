// Each output is the sum of the taps, of all blocks, that lie on it, and a bias of its channel. Missing axes have extent
// and kernel 1. One invocation per output. Driven by ops/conv_transpose/conv_transpose_vulkan.cpp.
//! variant STORAGE: f32 f16 f64 i8 u8 i16 u16 i32 u32 i64 u64
#version 450
#include "common.glsl"
#include "storage.glsl"

layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer Columns { STORAGE columns[]; };  // [planes * taps, positions]
layout(binding = 1) readonly buffer Bias { STORAGE bias[]; };
layout(binding = 2) writeonly buffer Y { STORAGE y[]; };

layout(push_constant) uniform Push {
  uint count;  // outputs
  uint channels;
  uint hasBias;
  uint image[3];  // extents, outermost first
  uint positions[3];
  uint kernel[3];
  int stride[3];
  int dilation[3];
  int pad[3];
} push;

const uint kNone = 0xFFFFFFFFu;

/// The position of the block along axis d whose tap `tap` lies at `at` of the image; kNone if there is none.
uint positionOf(uint d, uint at, uint tap) {
  const int first = int(at) + push.pad[d] - int(tap) * push.dilation[d];
  if (first < 0 || first % push.stride[d] != 0) return kNone;
  const uint position = uint(first / push.stride[d]);
  return position < push.positions[d] ? position : kNone;
}

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  const uint column = i % push.image[2], row = i / push.image[2] % push.image[1];
  const uint depth = i / push.image[2] / push.image[1] % push.image[0];
  const uint plane = i / push.image[2] / push.image[1] / push.image[0];
  ARITH sum = ARITH(0);
  if (push.hasBias != 0u) sum = LOAD(bias, plane % push.channels);
  for (uint a = 0; a < push.kernel[0]; ++a) {
    const uint l0 = positionOf(0u, depth, a);
    if (l0 == kNone) continue;
    for (uint b = 0; b < push.kernel[1]; ++b) {
      const uint l1 = positionOf(1u, row, b);
      if (l1 == kNone) continue;
      for (uint c = 0; c < push.kernel[2]; ++c) {
        const uint l2 = positionOf(2u, column, c);
        if (l2 == kNone) continue;
        const uint tap = ((plane * push.kernel[0] + a) * push.kernel[1] + b) * push.kernel[2] + c;
        sum += LOAD(columns, ((tap * push.positions[0] + l0) * push.positions[1] + l1) * push.positions[2] + l2);
      }
    }
  }
  STORE(y, i, sum);
}
