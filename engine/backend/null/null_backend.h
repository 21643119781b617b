// The null backend: the smallest complete backend, to be copied when a new device is brought up.
//
// It accepts no operator, so everything falls back to the CPU and results are right from the start.
// To make a real backend of a copy:
//   1. devices(): list what is there; an empty list and a missing driver are Unsupported with the reason.
//   2. allocate(): device memory. A Buffer without hostData() is accessed through upload/download only.
//   3. upload()/download(): copies, and conversion where storageDType() differs from the model's dtype.
//   4. creators(): `registry.creators(name(), def.type)`, and operators add ops/<op>/<op>_<backend>.cpp.
//   5. A Creator for rasterCard(): the kernel of reshape, transpose, concat and all others that move data.
//   6. record(): a Recorder that records commands, and Recordings that submit them.
// The build finds the folder by its name; `op-scaffold backend NAME` makes the copy. A Runtime may be shared between
// threads, a Backend may not.
#pragma once

#include "engine/backend/backend_registry.h"

namespace opkit::null {

/// The only device, which does nothing.
Result<std::vector<DeviceInfo>> devices();
/// Unsupported if `options` name another device.
Result<std::shared_ptr<Runtime>> createRuntime(const RuntimeOptions& options);

}  // namespace opkit::null
