// The CPU backend: fast kernels first, the oracle as the last resort, so every operator runs.
//
// The creator table of an operator holds what the operator registered for "cpu", then the "reference" provider. The
// Backends of a session share a ThreadPool of BackendConfig::threads. A Runtime may be shared by sessions on several
// threads; a Backend is used by one thread at a time.
#pragma once

#include "engine/backend/backend_registry.h"
#include "engine/base/thread_pool.h"

namespace opkit::cpu {

Result<std::vector<DeviceInfo>> devices();
Result<std::shared_ptr<Runtime>> createRuntime(const RuntimeOptions& options);

/// The pool that kernels of `backend` share. REQUIRES a Backend of this runtime; Creators registered for "cpu" receive
/// no other.
ThreadPool& threadPool(Backend& backend);

}  // namespace opkit::cpu
