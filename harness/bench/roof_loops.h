// The inner loops of roof_probe.cpp, one clone per instruction set.
#pragma once

#include <cstdint>

namespace opkit::harness {

/// Multiply-adds of kFlopsPerStep floating-point operations per step on values that stay in registers. The result
/// depends on all of them, so that none is left out.
inline constexpr int64_t kFlopsPerStep = 12 * 16 * 2;
float multiplyAdds(int64_t steps);

/// to = from, and to = from + other.
void streamCopy(const float* from, float* to, int64_t count);
void streamSum(const float* from, const float* other, float* to, int64_t count);

}  // namespace opkit::harness
