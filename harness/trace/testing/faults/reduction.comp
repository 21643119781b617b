// Sums of 16 rows of 150 elements, a group of 64 per row; then the largest of each row. Buffers: x, y of 32, scratch.
layout(local_size_x = 64) in;
layout(binding = 0) buffer X { float x[]; };
layout(binding = 1) buffer Y { float y[]; };
layout(binding = 2) buffer Z { float z[]; };
shared float part[64];

float fold(float mine, bool isSum) {
  const uint lane = gl_LocalInvocationIndex;
#if FAULT != 1  // the parts of the fold before may be read still
  barrier();
#endif
#if FAULT == 2
  if (lane < 48u)
#endif
    part[lane] = mine;
#if FAULT != 3
  barrier();
#endif
  for (uint width = 32u; width > 0u; width /= 2u) {
#if FAULT == 4
    if (lane <= width) part[lane] += part[lane + width];
#elif FAULT == 5
    part[lane] += part[(lane + width) & 63u];
#elif FAULT == 6
    if (lane < width) part[lane] += part[lane + width + 33u];
#else
    if (lane < width) part[lane] = isSum ? part[lane] + part[lane + width] : max(part[lane], part[lane + width]);
#endif
#if FAULT == 7  // the last 8 lanes run in lockstep on some devices
    if (width > 8u) barrier();
#elif FAULT == 8
    if (width != 32u) barrier();
#else
    barrier();
#endif
  }
  return part[0];
}

void main() {
  const uint row = gl_WorkGroupID.x, lane = gl_LocalInvocationIndex;
#if FAULT == 9
  if (lane >= 50u) return;
#endif
  float sum = 0.0, largest = 0.0;
  for (uint i = lane; i < 150u; i += 64u) {
    sum += x[row * 150u + i];
    largest = max(largest, x[row * 150u + i]);
  }
  sum = fold(sum, true);
  largest = fold(largest, false);
#if FAULT == 10
  y[row] = sum;
#else
  if (lane == 0u) y[row] = sum;
#endif
  if (lane == 1u) y[16u + row] = largest;
}
