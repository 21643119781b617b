// The samples that the outputs of a DeformConv read. An invocation finds the elements and weights of one tap of one output
// and sums them for several channels of the offset group. Missing axes come first and have extent 1. Places are computed
// without contractions: which elements count must not depend on the device. Driven by
// ops/deform_conv/deform_conv_vulkan.cpp.
#version 450
#include "common.glsl"

layout(constant_id = 0) const uint axes = 2;
layout(constant_id = 1) const bool hasMask = false;
layout(local_size_x = 64) in;

layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) readonly buffer Offset { float offset[]; };
layout(binding = 2) readonly buffer Mask { float mask[]; };
layout(binding = 3) writeonly buffer Y { float y[]; };

layout(push_constant) uniform Push {
  uint count;
  uint positions;
  uint taps;
  uint channels;  // of a group
  uint channelsEach;
  uint parts;  // of the channels
  uint inputs[3];
  uint outputs[3];
  uint kernel[3];
  int stride[3];
  int dilation[3];
  int padBegin[3];
} push;

// Elements along an axis; none where the weight is 0.
uint tapAt[3][2];
float tapWeight[3][2];

void setTaps(uint d, float place) {
  tapWeight[d][0] = tapWeight[d][1] = 0.0;
  const int extent = int(push.inputs[d]);
  if (!(place > -1.0) || !(place < float(extent))) return;  // NaN too
  const float below = floor(place), far = place - below;
  const int low = int(below);
  if (low >= 0) {
    tapAt[d][0] = uint(low);
    tapWeight[d][0] = 1.0 - far;
  }
  if (low + 1 < extent) {
    tapAt[d][1] = uint(low + 1);
    tapWeight[d][1] = far;
  }
}

float sampleOf(uint plane, float factor) {
  float sum = 0.0;
  for (uint a = 0u; a < (axes > 2u ? 2u : 1u); ++a) {
    for (uint b = 0u; b < (axes > 1u ? 2u : 1u); ++b) {
      const float weight = tapWeight[0][a] * tapWeight[1][b];
      if (weight == 0.0) continue;
      const uint line = ((plane * push.inputs[0] + tapAt[0][a]) * push.inputs[1] + tapAt[1][b]) * push.inputs[2];
      for (uint c = 0u; c < 2u; ++c)
        if (tapWeight[2][c] != 0.0) sum += weight * tapWeight[2][c] * x[line + tapAt[2][c]];
    }
  }
  return sum * factor;
}

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  const uint position = i % push.positions, tap = i / push.positions % push.taps;
  const uint part = i / push.positions / push.taps % push.parts;
  const uint group = i / push.positions / push.taps / push.parts;  // of all images
  const uint places = group * push.taps + tap;
  uint restOutput = position, restTap = tap;
  for (uint k = 0u; k < 3u; ++k) {
    const uint d = 2u - k;
    const int base = int(restOutput % push.outputs[d]) * push.stride[d] - push.padBegin[d] +
                     int(restTap % push.kernel[d]) * push.dilation[d];
    restOutput /= push.outputs[d];
    restTap /= push.kernel[d];
    tapAt[d][0] = 0u;
    tapWeight[d][0] = 1.0;
    if (k >= axes) continue;
    precise float place = float(base) + offset[(places * axes + axes - 1u - k) * push.positions + position];
    setTaps(d, place);
  }
  const float factor = hasMask ? mask[places * push.positions + position] : 1.0;
  for (uint c = 0u; c < push.channelsEach; ++c) {
    const uint channel = part * push.channelsEach + c;
    if (channel >= push.channels) break;
    const uint plane = group * push.channels + channel;
    y[(plane * push.taps + tap) * push.positions + position] = sampleOf(plane, factor);
  }
}
