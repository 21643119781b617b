// y[i] = 2 x[i] of 1,000 elements. Buffers: x, y, scratch of 1,000 floats.
layout(local_size_x = 64) in;
layout(binding = 0) buffer X { float x[]; };
layout(binding = 1) buffer Y { float y[]; };
layout(binding = 2) buffer Z { float z[]; };

void main() {
  const uint i = gl_GlobalInvocationID.x;
#if FAULT != 1  // the last group has 40 elements
  if (i >= 1000u) return;
#endif
#if FAULT == 2
  y[i] = x[i + 1u];
#elif FAULT == 3
  y[i / 2u] = x[i];
#elif FAULT == 4
  y[i % 64u] = x[i];
#elif FAULT == 5
  y[i] = x[i] + z[i];
#elif FAULT == 6
  x[i] = 1.0;
  y[i] = x[i ^ 1u];
#elif FAULT == 7
  y[i] = x[i];
  if (i == 999u) y[i + 1u] = 0.0;
#else
  y[i] = 2.0 * x[i];
#endif
}
