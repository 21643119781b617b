// GPUs described by a few public figures, and the least time that a kernel would take on one.
//
// An estimate, never a measurement: no kernel is faster than its bytes over the bandwidth, its operations over the
// peak, its groups on the compute units there are, and the cost of a launch.
#pragma once

#include <array>
#include <span>

#include "harness/trace/access_profile.h"

namespace opkit::harness {

struct Gpu {
  const char* name;
  double bandwidth;         // bytes/s of its memory
  double cacheBandwidth;    // bytes/s of its last-level cache: a round figure, of which makers say little
  double flops;             // f32 FLOP/s without matrix units
  double cacheBytes;        // of the last level
  uint32_t units;           // compute units: streaming multiprocessors, work group processors, cores
  uint32_t subgroup;        // invocations
  const char* deviceClass;  // the kernels that it gets
  double launchSeconds;     // of a dispatch in a command buffer that follows another
  const char* source;       // of the figures
};

std::span<const Gpu> gpus();
/// InvalidArgument lists the names.
Result<const Gpu*> gpuNamed(const std::string& name);

/// The part that limits a kernel: bytes, operations, fewer groups than compute units, or the cost of a launch.
enum class Limit { Memory, Arithmetic, Groups, Launch };
const char* nameOf(Limit limit);

struct Estimate {
  double seconds = 0;            // at least
  double needed = 0;             // seconds for the bytes of the tensors, read or written once, and the operations
  std::array<double, 4> part{};  // the seconds of the dispatches that each Limit binds

  /// The one that binds most of the time.
  Limit limit() const;
  /// Share of the roof that is in reach: needed / seconds.
  double roofShare() const { return seconds > 0 ? needed / seconds : 1; }
  /// Dispatches run one after the other.
  void add(const Estimate& other);
};

/// Of one dispatch that does `flops` operations. Every request passes the cache; memory serves the footprint, and the
/// repeated requests to the share of it that the cache cannot hold. The roof needs each byte of the tensors once.
Estimate estimateOf(const DispatchProfile& profile, double flops, const Gpu& gpu);

}  // namespace opkit::harness
