// Clamp: the activation that products (Conv, Gemm, MatMul) apply to their results, for graph passes that fuse
// Relu, Relu6 and Clip: every result is brought into [low, high], and a NaN stays a NaN. Pure functions.
#pragma once

#include <limits>

#include "engine/base/status.h"

namespace opkit {

struct Clamp {
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();

  bool isActive() const { return *this != Clamp(); }
  bool operator==(const Clamp&) const = default;

  /// InvalidArgument unless low <= high.
  Status check() const {
    if (low <= high) return Status::ok();
    return Status::invalidArgument("clamp_low must not exceed clamp_high, got {} and {}", low, high);
  }
};

/// The clamp in an operator's parameters (fields clamp_low and clamp_high).
template <class Params>
Clamp clampOf(const Params& params) {
  return {params.clamp_low, params.clamp_high};
}

}  // namespace opkit
