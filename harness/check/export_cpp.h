// export_cpp: a case as a standalone C++ program that needs nothing but Vulkan, for a driver's bug report.
#pragma once

#include "engine/backend/backend.h"
#include "harness/check/prepared.h"

namespace opkit::harness {

/// The text of a program that repeats the dispatches of this case's Vulkan kernel on the same data and compares the
/// first output with the oracle's values within their bounds: exit code 0 if they agree, 1 if not, 2 if there is no
/// device. Unsupported for kernels that use images or copies, and for more than 1 MiB of data: shrink the case first.
Result<std::string> exportCpp(const PreparedCase& c, const OpRegistry& registry, Runtime& runtime);

}  // namespace opkit::harness
