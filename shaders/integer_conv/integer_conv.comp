// ConvInteger (Y: i32) and QLinearConv (u8, for both signs) over 1 to 3 spatial axes: an invocation computes 4 positions, up to 64
// apart, of 4 output channels of a group, from words of 4 input channels, so that each word of the input serves 16
// products and each word of the weights too. Neighbours take neighbouring positions. With all bytes signed,
//
//   sum (x - zx)(w - zw) = sum xw - zw * sum x - zx * sum w + depth * zx * zw
//
// where padding holds zx. Driven by ops/integer_conv/integer_conv_vulkan.cpp.
//! variant Y: i32 u8
//! variant FORM: words dots
#version 450
#include "byte_dots.glsl"
#include "common.glsl"
#include "storage.glsl"
#include "requantize.glsl"

layout(local_size_x = 64) in;
layout(constant_id = 0) const bool isInside = false;  // every tap of every position lies in the input
layout(constant_id = 1) const bool hasOneTap = false;  // and positions of outputs are those of inputs
layout(constant_id = 2) const bool sumsWords = true;   // zero points of the weights may not be 0
layout(constant_id = 3) const bool hasBytes = false;    // groups have one input channel: x as it is, a byte a word

layout(binding = 0) readonly buffer X { uint8_t x[]; };
layout(binding = 0) readonly buffer X4 { uint x4[]; };  // integer_conv_pixels.comp
layout(binding = 1) readonly buffer W { uvec4 w[]; };   // integer_conv_weights.comp
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
  uint flips;  // a byte each: of x and w 128 if unsigned, of y 128 if signed
  uint has;    // bit 0: a zero point of x, bit 1: of w, bit 2: a bias
  uint wZeroStep;   // between output channels
  uint wScaleStep;
  uint distance;  // between the positions of an invocation
} push;

const uint kPositions = 4u;

/// The input channels of a quad at a position.
uint wordAt(uint place, uint flip) { return hasBytes ? uint(x[place]) ^ flip : x4[place]; }

void main() {
  const uint positions = uint(push.outputs[0] * push.outputs[1] * push.outputs[2]);
  const uint distance = push.distance, spans = ceilDiv(positions, kPositions * distance) * distance;  // invocations of a block of channels
  const uint blocks = ceilDiv(push.groupOutputs, 4u), item = linearIndex();
  if (item >= push.items) return;
  const uint block = item / spans % blocks, matrix = item / spans / blocks;  // matrix: image * groups + group
  const uint span = item % spans, group = matrix % push.groups;
  const uint firstPosition = span / distance * (kPositions * distance) + span % distance;
  const uint xFlip = push.flips & 255u, wFlip = push.flips >> 8 & 255u, yFlip = push.flips >> 16;
  const uint taps = uint(push.kernel[0] * push.kernel[1] * push.kernel[2]), quads = ceilDiv(push.groupInputs, 4u);
  const uint channelPositions = uint(push.inputs[0] * push.inputs[1] * push.inputs[2]);
  const ivec3 extents = ivec3(push.inputs[0], push.inputs[1], push.inputs[2]);
  ivec3 start[kPositions];  // under the first tap; positions beyond the last read as the last one
  uint places[kPositions];  // of these in a channel
  [[unroll]] for (uint j = 0u; j < kPositions; ++j) {
    const int position = int(min(firstPosition + j * distance, positions - 1u));
    const int row = position / push.outputs[2];
    start[j] = ivec3(row / push.outputs[1] * push.stride[0] - push.padBegin[0],
                     row % push.outputs[1] * push.stride[1] - push.padBegin[1],
                     position % push.outputs[2] * push.stride[2] - push.padBegin[2]);
    places[j] = hasOneTap ? uint(position) : uint((start[j].x * extents.y + start[j].y) * extents.z + start[j].z);
  }

  const int xZero = SIGNED_BYTE((push.has & 1u) != 0u ? uint(xZeroPoint[0]) : 0u, xFlip);
  ivec4 sum[kPositions] = ivec4[kPositions](ivec4(0), ivec4(0), ivec4(0), ivec4(0));
  ivec4 xSum = ivec4(0);  // of each position
  uint from = matrix * quads * channelPositions, weight = (group * blocks + block) * (quads * taps + 1u);
  const ivec4 wSum = ivec4(w[weight++]);  // of each channel
  for (uint c = 0u; hasOneTap && c < push.groupInputs; c += 4u) {
    const uvec4 factors = w[weight++];
    [[unroll]] for (uint j = 0u; j < kPositions; ++j) {
      const uint word = wordAt(from + places[j], xFlip);
      [[unroll]] for (uint i = 0u; i < 4u; ++i) sum[j][i] += dotBytes(word, factors[i]);
      if (sumsWords) xSum[j] += dotBytes(word, 0x01010101u);
    }
    from += channelPositions;
  }
  for (uint c = 0u; !hasOneTap && c < push.groupInputs; c += 4u) {
    const uint padding = (uint(xZero) & 255u) * 0x01010101u & 0xFFFFFFFFu >> (8u * (4u - min(push.groupInputs - c, 4u)));
    for (int kz = 0; kz < push.kernel[0]; ++kz) {
      for (int ky = 0; ky < push.kernel[1]; ++ky) {
        const ivec2 row = ivec2(kz * push.dilation[0], ky * push.dilation[1]);
        bvec4 hasRow;  // as unsigned, a negative position is huge
        [[unroll]] for (uint j = 0u; j < kPositions; ++j)
          hasRow[j] = all(lessThan(uvec2(start[j].xy + row), uvec2(extents.xy)));
        const uint rowFrom = from + uint((row.x * extents.y + row.y) * extents.z);
        for (int kx = 0; kx < push.kernel[2]; ++kx) {
          const uvec4 factors = w[weight++];
          const int column = kx * push.dilation[2];
          [[unroll]] for (uint j = 0u; j < kPositions; ++j) {
            uint word = padding;
            if (isInside || (hasRow[j] && uint(start[j].z + column) < uint(extents.z)))
              word = wordAt(rowFrom + places[j] + uint(column), xFlip);
            [[unroll]] for (uint i = 0u; i < 4u; ++i) sum[j][i] += dotBytes(word, factors[i]);
            if (sumsWords) xSum[j] += dotBytes(word, 0x01010101u);
          }
        }
      }
    }
    from += channelPositions;
  }

  // Loops: sixteen copies of a requantisation would take drivers long to compile.
  const int depth = int(push.groupInputs * taps);
  [[dont_unroll]] for (uint j = 0u; j < kPositions; ++j) {
    const uint position = firstPosition + j * distance;
    if (position >= positions) return;
    ivec4 sums = sum[0], wSums = wSum;
    [[dont_unroll]] for (uint i = 0u; i < 4u; ++i) {
      if (block * 4u + i >= push.groupOutputs) break;
      const uint channel = group * push.groupOutputs + block * 4u + i;
      const int wZero = SIGNED_BYTE((push.has & 2u) != 0u ? uint(wZeroPoint[channel * push.wZeroStep]) : 0u, wFlip);
      const uint to = (matrix * push.groupOutputs + block * 4u + i) * positions + position;
      const int own = sums.x - wZero * xSum.x - xZero * (wSums.x - depth * wZero);
      sums = sums.yzwx;
      wSums = wSums.yzwx;
#ifdef Y_I32
      Y_STORE(y, to, own);
#else
      const int total = own + ((push.has & 4u) != 0u ? bias[channel] : 0);
      Y_STORE(y, to, requantized(total, xScale[0], wScale[channel * push.wScaleStep], yScale[0],
                                 uint(yZeroPoint[0]), yFlip));
#endif
    }
    [[unroll]] for (uint k = 0u; k + 1u < kPositions; ++k) sum[k] = sum[k + 1u];  // registers have no addresses
    xSum = xSum.yzwx;
  }
}
