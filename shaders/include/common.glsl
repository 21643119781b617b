// Included by nearly every shader: the item index of an invocation, and integer helpers.
#ifndef OPKIT_COMMON_GLSL
#define OPKIT_COMMON_GLSL
#include "extensions.glsl"

// The item index of this invocation under Groups::linear(count, localSize), which spreads groups over x, y and z.
// It may be >= count, so shaders check it. This is a macro because the front end reads gl_WorkGroupSize as (1, 1, 1)
// in a function before the shader's local_size declaration.
#define linearIndex() \
  (linearGroup() * (gl_WorkGroupSize.x * gl_WorkGroupSize.y * gl_WorkGroupSize.z) + gl_LocalInvocationIndex)
// The number of this work group, likewise; it may be >= the number of groups that the items need.
#define linearGroup() \
  ((gl_WorkGroupID.z * gl_NumWorkGroups.y + gl_WorkGroupID.y) * gl_NumWorkGroups.x + gl_WorkGroupID.x)

uint ceilDiv(uint a, uint b) { return (a + b - 1u) / b; }

// Clamps a 64-bit integer, read as two words, to +-0x3FFFFFFF. Larger extents and indices need no distinction.
int saturated(int low, int high) {
  if (high > 0 || (high == 0 && low < 0)) return 0x3FFFFFFF;
  if (high < -1 || (high == -1 && low >= 0)) return -0x3FFFFFFF;
  return clamp(low, -0x3FFFFFFF, 0x3FFFFFFF);
}

#endif
