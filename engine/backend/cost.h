// Cost: the cost of running one command on a backend, used to choose between backends.
//
// The command runs alone, on its own tensors with ordinary values. Runtime::measurements() keeps the results. Not
// thread-safe, like the Backend.
#pragma once

#include "engine/backend/backend.h"
#include "engine/backend/tuning_cache.h"

namespace opkit {

struct Cost {
  double runNs = 0;     // of one run, by the device's clock if there is one
  double submitNs = 0;  // what the host adds to a separate run: submitting and waiting, without recording
};

/// A command, as the scheduler sees it.
struct MeasureArgs {
  const CreateArgs& args;
  const Creator& creator;
  std::span<const Tensor* const> contents = {};  // per input: its value if known on the host, else null
};

/// Of the measurements that `runtime` keeps, else of a trial, which counts as one of BackendCounters::measurements.
/// `configuration` names the backend settings that affect speed. Unsupported if the backend cannot run the command
/// after all.
Result<Cost> knownCost(Runtime& runtime, Backend& backend, const std::string& configuration, const MeasureArgs& args);

/// Moving bytes between the host and a device.
struct CopyCost {
  double latencyNs = 0;
  double nsPerByte = 0;
  double of(size_t bytes) const { return latencyNs + nsPerByte * static_cast<double>(bytes); }
};
struct CopyCosts {
  CopyCost up, down;
};
/// Copies a small and a large tensor each way. The result is kept like other measurements.
Result<CopyCosts> knownCopyCosts(Runtime& runtime, Backend& backend);

}  // namespace opkit
