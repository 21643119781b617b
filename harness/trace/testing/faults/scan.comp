// Running sums of 8 rows of 64 elements (Hillis and Steele). Buffers: x, y of 512 floats, scratch.
layout(local_size_x = 64) in;
layout(binding = 0) buffer X { float x[]; };
layout(binding = 1) buffer Y { float y[]; };
layout(binding = 2) buffer Z { float z[]; };
shared float part[64];

void main() {
  const uint lane = gl_LocalInvocationIndex, i = gl_WorkGroupID.x * 64u + lane;
  part[lane] = x[i];
#if FAULT != 1
  barrier();
#endif
  for (uint width = 1u; width < 64u; width *= 2u) {
#if FAULT == 2
    const float before = part[(lane - width) & 127u];
#else
    const float before = lane >= width ? part[lane - width] : 0.0;
#endif
#if FAULT != 3
    barrier();
#endif
    part[lane] += before;
#if FAULT == 4
    if (lane < 63u) barrier();
#elif FAULT != 5
    barrier();
#endif
  }
#if FAULT == 6  // the last of the row before, by another group
  y[i] = part[lane] + (i >= 64u ? y[gl_WorkGroupID.x * 64u - 1u] : 0.0);
#else
  y[i] = part[lane];
#endif
}
