// DevicePeaks: the measured peak rates of a device: the roofline for `op-run --profile` and `op-harness bench`. Plain
// data.
#pragma once

#include <memory>
#include <vector>

#include "engine/runtime/session.h"

namespace opkit {

struct DevicePeaks {
  /// Rate of a sum over this many bytes: small ones stay in caches.
  struct Bandwidth {
    double bytes = 0;
    double bytesPerNs = 0;
  };
  double flopsPerNs = 0;
  std::vector<Bandwidth> bandwidths;  // by growing bytes, falling bytesPerNs

  /// Rate from memory: that of the largest sum.
  double bytesPerNs() const { return bandwidths.empty() ? 0 : bandwidths.back().bytesPerNs; }
  /// The bound for work on this many bytes: the rate of the largest sum on at most as many.
  double bytesPerNs(double bytes) const;
  /// The share of the roofline that `ns` for this work reaches; 0 if peaks are unknown.
  double share(double flops, double bytes, double ns) const;
};

/// The best rates of a matrix product, convolutions, and additions and copies of growing size, in sessions of this
/// configuration. Unsupported if `registry` lacks one of them or the backend does not run it itself.
Result<DevicePeaks> measurePeaks(const OpRegistry& registry, SessionConfig config,
                                 const std::shared_ptr<Runtime>& runtime);

}  // namespace opkit
