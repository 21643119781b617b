// Means of windows of 5 over a row of 200 elements, a halo of 2 in shared memory, zeros outside. Buffers: x, y, scratch
// of 200 floats. 4 groups of 64.
layout(local_size_x = 64) in;
layout(binding = 0) buffer X { float x[]; };
layout(binding = 1) buffer Y { float y[]; };
layout(binding = 2) buffer Z { float z[]; };
shared float row[68];

float element(int i) {
#if FAULT == 1
  return x[i];
#else
  return i >= 0 && i < 200 ? x[i] : 0.0;
#endif
}

void main() {
  const int lane = int(gl_LocalInvocationIndex), first = int(gl_WorkGroupID.x) * 64, i = first + lane;
#if FAULT == 2
  if (i >= 200) return;
#endif
  row[lane + 2] = element(i);
#if FAULT == 3
  if (lane < 2) row[lane] = element(i - 2);
#else
  if (lane < 2) row[lane] = element(i - 2);
  if (lane >= 62) row[lane + 4] = element(i + 2);
#endif
#if FAULT == 4
  if (first == 0) barrier();
#else
  barrier();
#endif
#if FAULT == 5
  const int window = 6;
#else
  const int window = 5;
#endif
  float sum = 0.0;
  for (int k = 0; k < window; ++k) sum += row[lane + k];
#if FAULT == 6
  if (i <= 200) y[i] = sum / 5.0;
#else
  if (i < 200) y[i] = sum / 5.0;
#endif
}
