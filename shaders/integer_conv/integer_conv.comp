// ConvInteger (Y: i32) and QLinearConv (u8, for both signs) over 1 to 3 spatial axes: an invocation computes 4 positions, up to 64
// apart, of 4 output channels of a group, so that four bytes of the weights serve sixteen products, and a byte of the input
// four. Neighbours take neighbouring positions. Driven by ops/integer_conv/integer_conv_vulkan.cpp.
//! variant Y: i32 u8
#version 450
#include "common.glsl"
#include "storage.glsl"
#include "requantize.glsl"

layout(local_size_x = 64) in;
layout(constant_id = 0) const bool isInside = false;  // every tap of every position lies in the input

layout(constant_id = 1) const bool byFours = false;  // one tap, and the positions of an invocation are loaded at once

layout(binding = 0) readonly buffer X { uint8_t x[]; };
layout(binding = 0) readonly buffer X4 { u8vec4 x4[]; };
layout(binding = 1) readonly buffer W { u8vec4 w[]; };  // integer_conv_weights.comp
layout(binding = 2) readonly buffer XZeroPoint { uint8_t xZeroPoint[]; };
layout(binding = 3) readonly buffer WZeroPoint { uint8_t wZeroPoint[]; };
layout(binding = 4) readonly buffer XScale { float xScale[]; };
layout(binding = 5) readonly buffer WScale { float wScale[]; };
layout(binding = 6) readonly buffer YScale { float yScale[]; };
layout(binding = 7) readonly buffer YZeroPoint { uint8_t yZeroPoint[]; };
layout(binding = 8) readonly buffer Bias { int bias[]; };
layout(binding = 9) writeonly buffer Y { Y_TYPE y[]; };

layout(push_constant) uniform Push {
  int inputs[3];
  int outputs[3];
  int kernel[3];
  int stride[3];
  int dilation[3];
  int padBegin[3];
  uint items;  // invocations
  uint groups;
  uint groupInputs;
  uint groupOutputs;
  uint flips;  // of x, w and y, a byte each: 128 if signed
  uint has;    // bit 0: a zero point of x, bit 1: of w, bit 2: a bias
  uint wZeroStep;   // between output channels
  uint wScaleStep;
  uint distance;  // between the positions of an invocation
} push;

const uint kPositions = 4u;

void main() {
  const uint positions = uint(push.outputs[0] * push.outputs[1] * push.outputs[2]);
  const uint distance = push.distance, spans = ceilDiv(positions, kPositions * distance) * distance;  // invocations of a block of channels
  const uint blocks = ceilDiv(push.groupOutputs, 4u), item = linearIndex();
  if (item >= push.items) return;
  const uint block = item / spans % blocks, matrix = item / spans / blocks;  // matrix: image * groups + group
  const uint span = item % spans, group = matrix % push.groups;
  const uint firstPosition = span / distance * (kPositions * distance) + span % distance;
  const uint xFlip = push.flips & 255u, wFlip = push.flips >> 8 & 255u, yFlip = push.flips >> 16;
  const uint taps = uint(push.kernel[0] * push.kernel[1] * push.kernel[2]), depth = push.groupInputs * taps;
  const uint channelPositions = uint(push.inputs[0] * push.inputs[1] * push.inputs[2]);
  const ivec3 extents = ivec3(push.inputs[0], push.inputs[1], push.inputs[2]);
  ivec3 start[kPositions];  // under the first tap; positions beyond the last read as the last one
  [[unroll]] for (uint j = 0u; j < kPositions; ++j) {
    const int position = int(min(firstPosition + j * distance, positions - 1u));
    const int row = position / push.outputs[2];
    start[j] = ivec3(row / push.outputs[1] * push.stride[0] - push.padBegin[0],
                     row % push.outputs[1] * push.stride[1] - push.padBegin[1],
                     position % push.outputs[2] * push.stride[2] - push.padBegin[2]);
  }

  const int xZero = (push.has & 1u) != 0u ? BYTE(xZeroPoint[0], xFlip) : int(xFlip);
  uvec4 channels;  // the last one in place of those beyond the group
  ivec4 wZero = ivec4(wFlip);
  [[unroll]] for (uint i = 0u; i < 4u; ++i) {
    channels[i] = group * push.groupOutputs + min(block * 4u + i, push.groupOutputs - 1u);
    if ((push.has & 2u) != 0u) wZero[i] = BYTE(wZeroPoint[channels[i] * push.wZeroStep], wFlip);
  }

  ivec4 sum[kPositions] = ivec4[kPositions](ivec4(0), ivec4(0), ivec4(0), ivec4(0));
  uint from = matrix * push.groupInputs * channelPositions, weight = (group * blocks + block) * depth;
  for (uint c = 0u; byFours && c < push.groupInputs; ++c) {
    const ivec4 factors = ivec4(uvec4(w[weight++]) ^ wFlip) - wZero;
    const ivec4 values = ivec4(uvec4(x4[(from + min(firstPosition, positions - 4u)) / 4u]) ^ xFlip) - xZero;
    [[unroll]] for (uint j = 0u; j < kPositions; ++j) sum[j] += values[j] * factors;
    from += channelPositions;
  }
  for (uint c = 0u; !byFours && c < push.groupInputs; ++c) {
    for (int kz = 0; kz < push.kernel[0]; ++kz) {
      for (int ky = 0; ky < push.kernel[1]; ++ky) {
        for (int kx = 0; kx < push.kernel[2]; ++kx) {
          const ivec4 factors = ivec4(uvec4(w[weight++]) ^ wFlip) - wZero;
          const ivec3 tap = ivec3(kz * push.dilation[0], ky * push.dilation[1], kx * push.dilation[2]);
          [[unroll]] for (uint j = 0u; j < kPositions; ++j) {
            const ivec3 at = start[j] + tap;
            // As unsigned, a negative position is huge.
            if (isInside || all(lessThan(uvec3(at), uvec3(extents))))
              sum[j] += (BYTE(x[from + uint((at.x * extents.y + at.y) * extents.z + at.z)], xFlip) - xZero) * factors;
          }
        }
      }
    }
    from += channelPositions;
  }

  // Loops: sixteen copies of a requantisation would take drivers long to compile.
  [[dont_unroll]] for (uint j = 0u; j < kPositions; ++j) {
    const uint position = firstPosition + j * distance;
    if (position >= positions) return;
    ivec4 sums = sum[0];
    [[dont_unroll]] for (uint i = 0u; i < 4u; ++i) {
      if (block * 4u + i >= push.groupOutputs) break;
      const uint to = (matrix * push.groupOutputs + block * 4u + i) * positions + position;
      const int own = sums.x;
      sums = sums.yzwx;
#ifdef Y_I32
      Y_STORE(y, to, own);
#else
      const int total = own + ((push.has & 4u) != 0u ? bias[channels[i]] : 0);
      Y_STORE(y, to, requantized(total, xScale[0], wScale[channels[i] * push.wScaleStep], yScale[0],
                                 uint(yZeroPoint[0]), yFlip));
#endif
    }
    [[unroll]] for (uint k = 0u; k + 1u < kPositions; ++k) sum[k] = sum[k + 1u];  // registers have no addresses
  }
}
