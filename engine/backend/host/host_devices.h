// The host as a device: description and selection, for the backends that compute on it.
#pragma once

#include "engine/backend/backend_registry.h"

namespace opkit {

/// The processor as the only device of `backend`: its model name and the SIMD instruction set in use.
DeviceInfo hostDevice(const std::string& backend);

/// OK if `wanted` (see RuntimeOptions::device) is empty or names `device`; Unsupported otherwise.
Status checkDevice(const DeviceInfo& device, const std::string& wanted);

}  // namespace opkit
