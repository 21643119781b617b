// Adds the slices of gemm_shared.comp and conv_shared.comp: y = alpha * sum of partial[slice], plus beta * bias. One
// invocation per result. Driven by ops/gemm/gemm_shared_vulkan.cpp.
//! variant STORAGE: f32 f16
#version 450
#include "common.glsl"
#include "storage.glsl"

layout(local_size_x = 128) in;

layout(binding = 0) readonly buffer Partial { float partial[]; };
layout(binding = 1) readonly buffer Bias { STORAGE bias[]; };
layout(binding = 2) writeonly buffer Y { STORAGE y[]; };

layout(push_constant) uniform Push {
  uint count;
  uint slices;
  uint rows;
  uint columns;
  uint groups;  // matrices with a bias of their own; matrix m belongs to group m % groups
  uint hasBias;
  uint biasRow;
  uint biasColumn;
  uint biasGroup;
  float alpha;
  float beta;
  float low;  // results are clamped to [low, high]
  float high;
} push;

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  float sum = 0.0;
  for (uint slice = 0u; slice < push.slices; ++slice) sum += partial[slice * push.count + i];
  float value = push.alpha * sum;
  if (push.hasBias != 0u) {
    const uint column = i % push.columns, row = i / push.columns % push.rows;
    const uint group = i / push.columns / push.rows % push.groups;
    value += push.beta * LOAD(bias, group * push.biasGroup + row * push.biasRow + column * push.biasColumn);
  }
  STORE(y, i, value < push.low ? push.low : value > push.high ? push.high : value);  // a NaN stays
}
