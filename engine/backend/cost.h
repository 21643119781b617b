// Cost: what running one command costs on a backend, for those who choose between backends.
//
// onMeasure() is asked per command. A Backend that can tell without trying (a model of the device, figures from
// elsewhere) derives from EstimatesCost; every other one is measured: the command runs alone, on tensors of its own
// that hold ordinary values. A Runtime that derives from KeepsMeasurements has what was measured kept on disk, for as
// long as device, driver and kernels stay the same. Not thread-safe, like the Backend.
#pragma once

#include "engine/backend/backend.h"
#include "engine/backend/tuning_cache.h"

namespace opkit {

struct Cost {
  double runNs = 0;     // of one run, by the device's clock where there is one
  double submitNs = 0;  // what the host adds to a run of its own: recording aside, submitting and waiting
  double firstNs = 0;   // from nothing to the end of the first run: creating, compiling, uploading constants
};

/// A command as schedules know it.
struct MeasureArgs {
  const CreateArgs& args;
  const Creator* creator = nullptr;              // null for a raster
  const RegionList* regions = nullptr;           // of a raster
  std::span<const Tensor* const> contents = {};  // per input: its value where that is known on the host, else null
};

class EstimatesCost {
 public:
  virtual ~EstimatesCost() = default;
  /// Unsupported where the backend cannot run the command after all.
  virtual Result<Cost> onMeasure(const MeasureArgs& args) = 0;
};

class KeepsMeasurements {
 public:
  virtual ~KeepsMeasurements() = default;
  virtual TuningCache& tuning() = 0;
};

/// What the backend says, else what a trial gives. REQUIRES a Backend without plans: a trial takes its plan 0. Counts
/// as one of BackendCounters::measurements when something ran.
Result<Cost> onMeasure(Backend& backend, const MeasureArgs& args);
/// As above through the measurements that `runtime` keeps, if it does. `configuration` names what a Backend was made
/// with, as far as speed depends on it.
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
/// By copying a small and a large tensor each way; kept like the rest.
Result<CopyCosts> knownCopyCosts(Runtime& runtime, Backend& backend);

}  // namespace opkit
