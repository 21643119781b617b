// The shader sanitizer on a case (`op-harness check --sanitize`).
#pragma once

#include "harness/check/prepared.h"
#include "harness/trace/case_trace.h"
#include "harness/trace/sanitizer.h"

namespace opkit::harness {

class ShaderWorkshop;

struct SanitizeOptions {
  ShaderWorkshop* workshop = nullptr;  // compiles the shaders of a source tree, for source lines; null: as built
  std::string source;                  // a source tree for a second run with source lines, if there are faults
  Storage storage = Storage::Auto;
  std::vector<Tensor>* outputs = nullptr;  // filled with copies, if given
};

/// Internal lists the faults, in one line. Unsupported if the case is too large to be traced whole, dispatches no
/// shader or does not run on Vulkan.
Status sanitizeCase(const PreparedCase& at, const OpRegistry& registry,
                    const std::shared_ptr<vulkan::VulkanRuntime>& runtime, const SanitizerParts& parts,
                    const SanitizeOptions& options);

}  // namespace opkit::harness
