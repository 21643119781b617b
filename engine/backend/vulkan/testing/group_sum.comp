// Sums of a work group's elements through shared memory, for tests of its size.
#version 450
layout(local_size_x = 64, local_size_x_id = 0) in;
layout(binding = 0) readonly buffer X { float x[]; };
layout(binding = 1) writeonly buffer Y { float y[]; };
shared float part[gl_WorkGroupSize.x];

void main() {
  part[gl_LocalInvocationIndex] = x[gl_GlobalInvocationID.x];
  barrier();
  float sum = 0.0;
  for (uint i = 0; i < gl_WorkGroupSize.x; ++i) sum += part[i];
  y[gl_GlobalInvocationID.x] = sum;
}
