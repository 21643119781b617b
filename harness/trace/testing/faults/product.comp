// z = x * y, [32, 20] * [20, 32], by tiles of 8 x 8 and steps of 8. Buffers: x, y of 640 floats, z of 1,024. 4 x 4
// groups.
layout(local_size_x = 8, local_size_y = 8) in;
layout(binding = 0) buffer X { float x[]; };
layout(binding = 1) buffer Y { float y[]; };
layout(binding = 2) buffer Z { float z[]; };
shared float a[8][8], b[8][8];

void main() {
  const uvec2 t = gl_LocalInvocationID.xy, at = gl_GlobalInvocationID.xy;
  float sum = 0.0;
  for (uint k = 0u; k < 20u; k += 8u) {
#if FAULT == 1
    a[t.y][t.x] = x[at.y * 20u + k + t.x];
#elif FAULT == 2
    if (k + t.x < 16u) a[t.y][t.x & 3u] = x[at.y * 20u + k + t.x];
#else
    a[t.y][t.x] = k + t.x < 20u ? x[at.y * 20u + k + t.x] : 0.0;
#endif
#if FAULT == 3
    b[t.y][t.x] = y[(k + t.y) * 32u + at.x];
#else
    b[t.y][t.x] = k + t.y < 20u ? y[(k + t.y) * 32u + at.x] : 0.0;
#endif
#if FAULT != 4
    barrier();
#endif
#if FAULT == 5
    for (uint i = 0u; i < 9u; ++i) sum += a[t.y][i & 7u] * b[i][t.x];
#else
    for (uint i = 0u; i < 8u; ++i) sum += a[t.y][i] * b[i][t.x];
#endif
#if FAULT == 6
    if (k == 0u) barrier();
#elif FAULT != 7
    barrier();
#endif
  }
#if FAULT == 8
  z[at.y * 32u + (at.x & 15u)] = sum;
#else
  z[at.y * 32u + at.x] = sum;
#endif
}
