// Two stages through a buffer within a group: squares into scratch, then differences of neighbours. Buffers: x, y,
// scratch of 256 floats. 4 groups of 64.
layout(local_size_x = 64) in;
layout(binding = 0) buffer X { float x[]; };
layout(binding = 1) buffer Y { float y[]; };
layout(binding = 2) buffer Z { float z[]; };

void main() {
  const uint lane = gl_LocalInvocationIndex, i = gl_GlobalInvocationID.x;
#if FAULT == 1
  if (lane != 7u)
#endif
    z[i] = x[i] * x[i];
#if FAULT == 2  // orders shared memory only
  barrier();
#elif FAULT == 3
  memoryBarrierBuffer();
#elif FAULT == 4
  if (lane < 32u) {
    memoryBarrierBuffer();
    barrier();
  }
#else
  memoryBarrierBuffer();
  barrier();
#endif
#if FAULT == 5  // a neighbour in the next group
  y[i] = z[i] - z[(i + 1u) & 255u];
#else
  y[i] = z[i] - z[i - lane + ((lane + 1u) & 63u)];
#endif
}
