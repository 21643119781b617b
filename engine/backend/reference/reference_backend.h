// The reference backend: every operator through its oracle, on one thread. Slow, and right.
#pragma once

#include "engine/backend/backend_registry.h"

namespace opkit::reference {

Result<std::vector<DeviceInfo>> devices();
Result<std::shared_ptr<Runtime>> createRuntime(const RuntimeOptions& options);

}  // namespace opkit::reference
