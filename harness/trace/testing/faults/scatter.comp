// A histogram of 512 numbers below 32, counted in shared memory first. Buffers: x of 512 words, y of 32, scratch of 32.
// 8 groups of 64.
layout(local_size_x = 64) in;
layout(binding = 0) buffer X { uint x[]; };
layout(binding = 1) buffer Y { uint y[]; };
layout(binding = 2) buffer Z { uint z[]; };
shared uint bins[32];

void main() {
  const uint lane = gl_LocalInvocationIndex, i = gl_GlobalInvocationID.x;
#if FAULT == 1
  if (lane < 31u) bins[lane] = 0u;
#else
  if (lane < 32u) bins[lane] = 0u;
#endif
#if FAULT != 2
  barrier();
#endif
  const uint bin = (x[i] + i) % 32u;
#if FAULT == 3
  bins[bin] += 1u;
#elif FAULT == 4
  atomicAdd(bins[bin + 1u], 1u);
#else
  atomicAdd(bins[bin], 1u);
#endif
#if FAULT != 5
  barrier();
#endif
#if FAULT == 6
  if (lane < 32u) y[lane] += bins[lane];
#elif FAULT == 7
  if (lane < 32u) atomicAdd(z[lane], bins[lane]);
#elif FAULT == 8
  if (lane < 33u) atomicAdd(y[lane], 1u);
#else
  if (lane < 32u) atomicAdd(y[lane], bins[lane]);
#endif
}
