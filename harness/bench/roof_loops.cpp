// Compiled with -O3 (see CMakeLists.txt): the compiler's own vectors, chosen by instruction set when the program
// starts.
#include "harness/bench/roof_loops.h"

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__)
#define OPKIT_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define OPKIT_CLONES
#endif

namespace opkit::harness {
namespace {

using Vector = float __attribute__((vector_size(64)));

}  // namespace

OPKIT_CLONES float multiplyAdds(int64_t steps) {
  Vector sums[12] = {};
  Vector factor = {}, term = {};
  factor += 0.999f;
  term += 0.001f;
  for (int64_t i = 0; i < steps; ++i)
    for (Vector& sum : sums) sum = sum * factor + term;
  float total = 0;
  for (const Vector& sum : sums)
    for (int lane = 0; lane < 16; ++lane) total += sum[lane];
  return total;
}

OPKIT_CLONES void streamCopy(const float* __restrict from, float* __restrict to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] = from[i];
}

OPKIT_CLONES void streamSum(const float* __restrict from, const float* __restrict other, float* __restrict to,
                            int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] = from[i] + other[i];
}

}  // namespace opkit::harness
