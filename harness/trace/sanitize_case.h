// The shader sanitizer on a case (`op-harness check --sanitize`).
#pragma once

#include "harness/check/prepared.h"
#include "harness/trace/case_trace.h"
#include "harness/trace/sanitizer.h"

namespace opkit::harness {

class ShaderWorkshop;

/// Internal lists the faults, in one line. Unsupported if the case is too large to be traced whole, dispatches no
/// shader or does not run on Vulkan. `workshop` gives source lines for shaders of a source tree; null for none.
Status sanitizeCase(const PreparedCase& at, const OpRegistry& registry,
                    const std::shared_ptr<vulkan::VulkanRuntime>& runtime, const SanitizerParts& parts,
                    ShaderWorkshop* workshop);

}  // namespace opkit::harness
