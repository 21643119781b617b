// The null backend: the smallest complete backend, here to be copied when a new device is brought up.
//
// It accepts no operator and no raster, so everything falls back to the CPU and results are right from the
// first day. To make a real backend of a copy:
//   1. devices(): list what is there; an empty list and a missing driver are Unsupported with the reason.
//   2. allocate(): device memory. A Buffer without hostData() is reached by upload/download alone.
//   3. upload()/download(): copies, and conversion where storageDType() differs from the model's dtype.
//   4. createRaster(): the kernel for reshape, transpose, concat and all others that only move data.
//   5. creators(): `registry.creators(name(), def.type)`, and operators add ops/<op>/<op>_<backend>.cpp.
//   6. onResizeBegin .. onExecuteEnd: recording and submission.
// The build finds the folder by its name; `op-scaffold backend NAME` makes the copy. A Runtime may be shared between
// threads, a Backend may not.
#pragma once

#include "engine/backend/backend_registry.h"

namespace opkit::null {

/// The one device there is: nothing.
Result<std::vector<DeviceInfo>> devices();
/// Unsupported when `options` ask for another device.
Result<std::shared_ptr<Runtime>> createRuntime(const RuntimeOptions& options);

}  // namespace opkit::null
