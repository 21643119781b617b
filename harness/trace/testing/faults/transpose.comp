// The transpose of 50 x 50 elements by tiles of 16 x 16. Buffers: x, y of 2,500 floats, scratch. 4 x 4 groups.
layout(local_size_x = 16, local_size_y = 16) in;
layout(binding = 0) buffer X { float x[]; };
layout(binding = 1) buffer Y { float y[]; };
layout(binding = 2) buffer Z { float z[]; };
shared float tile[16][17];

void main() {
  const uvec2 t = gl_LocalInvocationID.xy, from = gl_WorkGroupID.xy * 16u, to = from.yx;
#if FAULT == 1
  tile[t.y][t.x] = x[(from.y + t.y) * 50u + from.x + t.x];
#elif FAULT == 2
  if (from.x + t.x >= 50u || from.y + t.y >= 50u) return;
  tile[t.y][t.x] = x[(from.y + t.y) * 50u + from.x + t.x];
#elif FAULT == 3
  if (t.y < 8u && from.x + t.x < 50u && from.y + t.y < 50u) tile[t.y][t.x] = x[(from.y + t.y) * 50u + from.x + t.x];
#else
  if (from.x + t.x < 50u && from.y + t.y < 50u) tile[t.y][t.x] = x[(from.y + t.y) * 50u + from.x + t.x];
#endif
#if FAULT != 4
  barrier();
#endif
#if FAULT == 5
  y[(to.y + t.y) * 50u + to.x + t.x] = tile[t.x][t.y];
#elif FAULT == 6
  if (to.x + t.x < 50u && to.y + t.y < 50u) y[(to.y + t.y) * 48u + to.x + t.x] = tile[t.x][t.y];
#elif FAULT == 7
  if (to.x + t.x < 50u && to.y + t.y < 50u) y[(to.y + t.y) * 50u + to.x + t.x] = tile[t.x + 1u][t.y];
#else
  if (to.x + t.x < 50u && to.y + t.y < 50u) y[(to.y + t.y) * 50u + to.x + t.x] = tile[t.x][t.y];
#endif
}
