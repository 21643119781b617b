// Cost: the cost of running one command on a backend, used to choose between backends.
//
// onMeasure() is called per command. A Backend that can predict its cost (from a model of the device or stored figures)
// returns an EstimatesCost from estimator(). Every other backend is measured: the command runs alone, on its own
// tensors with ordinary values. Runtime::measurements() keeps the results. Not thread-safe, like the Backend.
#pragma once

#include "engine/backend/backend.h"
#include "engine/backend/tuning_cache.h"

namespace opkit {

struct Cost {
  double runNs = 0;     // of one run, by the device's clock if there is one
  double submitNs = 0;  // what the host adds to a separate run: submitting and waiting, without recording
  double firstNs = 0;   // from nothing to the end of the first run: creating, compiling, uploading constants
};

/// A command, as the scheduler sees it.
struct MeasureArgs {
  const CreateArgs& args;
  const Creator& creator;
  std::span<const Tensor* const> contents = {};  // per input: its value if known on the host, else null
};

class EstimatesCost {
 public:
  virtual ~EstimatesCost() = default;
  /// Unsupported if the backend cannot run the command after all.
  virtual Result<Cost> onMeasure(const MeasureArgs& args) = 0;
};

/// The backend's estimate, else the result of a trial. REQUIRES a Backend without plans: a trial uses plan 0. Counts as
/// one of BackendCounters::measurements when something ran.
Result<Cost> onMeasure(Backend& backend, const MeasureArgs& args);
/// As above, but uses the measurements that `runtime` keeps, if any. `configuration` names the backend settings that
/// affect speed.
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
