// The maximum of each window of each plane and, if wanted, its place in the whole tensor; over up to three spatial axes, as
// pool.comp walks them. The first NaN wins, else the first of the largest. Driven by ops/pool/pool_places_vulkan.cpp.
//! variant STORAGE: f32 f16 f64 i8 u8
#version 450
#include "common.glsl"
#include "storage.glsl"
#include "math.glsl"
#ifdef STORAGE_F64
#include "double.glsl"
#endif

layout(local_size_x = 64) in;
layout(constant_id = 0) const uint places = 0;  // kNone, kRowMajor or kColumnMajor

layout(binding = 0) readonly buffer X { STORAGE x[]; };
layout(binding = 1) writeonly buffer Y { STORAGE y[]; };
layout(binding = 2) writeonly buffer Places { uvec2 indices[]; };  // int64

layout(push_constant) uniform Push {
  uint count;      // outputs
  uint inputs[3];  // extents, outermost first
  uint outputs[3];
  uint kernel[3];
  int stride[3];
  int dilation[3];
  int padBegin[3];
} push;

const uint kNone = 0, kRowMajor = 1, kColumnMajor = 2;

#if defined(STORAGE_F32) || defined(STORAGE_F16) || defined(STORAGE_F64)
bool isNotANumber(ARITH value) { return isNan(value); }
#define kLowest ARITH(-kInfinity)
#else
bool isNotANumber(ARITH value) { return false; }
#ifdef STORAGE_I8
const ARITH kLowest = -128;
#else
const ARITH kLowest = 0u;
#endif
#endif

void main() {
  const uint i = linearIndex();
  if (i >= push.count) return;
  const uint width = push.outputs[2], height = push.outputs[1], depth = push.outputs[0];
  const uint planeSize = push.inputs[0] * push.inputs[1] * push.inputs[2];
  const uint plane = i / width / height / depth * planeSize;
  const ivec3 first = ivec3(i % width, i / width % height, i / width / height % depth) *
                          ivec3(push.stride[2], push.stride[1], push.stride[0]) -
                      ivec3(push.padBegin[2], push.padBegin[1], push.padBegin[0]);
  ARITH best = kLowest;
  uvec3 at = uvec3(0u);
  bool found = false;
  for (uint kd = 0; kd < push.kernel[0]; ++kd) {
    const uint z = uint(first.z + int(kd) * push.dilation[0]);  // a negative position is huge
    if (z >= push.inputs[0]) continue;
    for (uint kh = 0; kh < push.kernel[1]; ++kh) {
      const uint row = uint(first.y + int(kh) * push.dilation[1]);
      if (row >= push.inputs[1]) continue;
      for (uint kw = 0; kw < push.kernel[2]; ++kw) {
        const uint column = uint(first.x + int(kw) * push.dilation[2]);
        if (column >= push.inputs[2]) continue;
        const ARITH value = LOAD(x, plane + (z * push.inputs[1] + row) * push.inputs[2] + column);
        if (found && (isNotANumber(best) || !(value > best || isNotANumber(value)))) continue;
        best = value;
        at = uvec3(column, row, z);
        found = true;
      }
    }
  }
  STORE(y, i, best);
  if (places == kNone) return;
  const uint place = places == kColumnMajor ? (at.x * push.inputs[1] + at.y) * push.inputs[0] + at.z
                                            : (at.z * push.inputs[1] + at.y) * push.inputs[2] + at.x;
  indices[i] = uvec2(found ? plane + place : 0u, 0u);
}
