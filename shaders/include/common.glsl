// What nearly every shader needs: the item of an invocation, and integer helpers.
#ifndef OPKIT_COMMON_GLSL
#define OPKIT_COMMON_GLSL
#include "extensions.glsl"

// The item of this invocation under Groups::linear(count, localSize), which spreads groups over x, y and z.
// May be >= count: shaders check. A macro, because in a function that stands before the shader's local_size
// declaration the front end takes gl_WorkGroupSize for (1, 1, 1).
#define linearIndex()                                                                                      \
  (((gl_WorkGroupID.z * gl_NumWorkGroups.y + gl_WorkGroupID.y) * gl_NumWorkGroups.x + gl_WorkGroupID.x) *  \
       (gl_WorkGroupSize.x * gl_WorkGroupSize.y * gl_WorkGroupSize.z) +                                    \
   gl_LocalInvocationIndex)

uint ceilDiv(uint a, uint b) { return (a + b - 1u) / b; }

// A 64-bit integer that was read as two words, limited to +-0x3FFFFFFF: extents and indices beyond are all alike.
int saturated(int low, int high) {
  if (high > 0 || (high == 0 && low < 0)) return 0x3FFFFFFF;
  if (high < -1 || (high == -1 && low >= 0)) return -0x3FFFFFFF;
  return clamp(low, -0x3FFFFFFF, 0x3FFFFFFF);
}

#endif
