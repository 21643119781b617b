// Division into equal parts, rounded up.
#pragma once

#include <cstdint>

namespace opkit {

/// a / b rounded up, for a >= 0 and b > 0 whose sum fits.
constexpr int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// The least multiple of `b` that is not below `a`.
constexpr int64_t roundUp(int64_t a, int64_t b) { return ceilDiv(a, b) * b; }

}  // namespace opkit
