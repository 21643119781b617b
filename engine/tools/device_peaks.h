// DevicePeaks: what a device can do at best, as measured on it: the roof that `op-run --profile` and `op-harness bench`
// hold times against. Plain data.
#pragma once

#include <memory>
#include <vector>

#include "engine/runtime/session.h"

namespace opkit {

struct DevicePeaks {
  /// What a sum over this many bytes reaches: small ones stay in caches.
  struct Bandwidth {
    double bytes = 0;
    double bytesPerNs = 0;
  };
  double flopsPerNs = 0;
  std::vector<Bandwidth> bandwidths;  // by growing bytes, falling bytesPerNs

  /// From memory: of the largest sum.
  double bytesPerNs() const { return bandwidths.empty() ? 0 : bandwidths.back().bytesPerNs; }
  /// The bound for work that touches this many bytes: of the largest sum that touched no more.
  double bytesPerNs(double bytes) const;
  /// The share of the roofline that `ns` for this much work is; 0 when peaks are unknown.
  double share(double flops, double bytes, double ns) const;
};

/// The best that a matrix product and convolutions reach, and additions and copies of growing size, as sessions of this
/// configuration run them. Unsupported when `registry` lacks one of them, or the backend does not run it itself.
Result<DevicePeaks> measurePeaks(const OpRegistry& registry, SessionConfig config,
                                 const std::shared_ptr<Runtime>& runtime);

}  // namespace opkit
