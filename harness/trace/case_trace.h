// Traces of the dispatches of one case on a Vulkan device.
#pragma once

#include "engine/backend/vulkan/vulkan_runtime.h"
#include "harness/check/op_model.h"
#include "harness/trace/access_profile.h"

namespace opkit::harness {

struct TraceOptions {
  size_t records = size_t{1} << 20;                  // per dispatch; groups are sampled so that they fit
  ShaderTracer::DebugSource source;                  // null: the shaders as built, without source lines
  std::optional<size_t> alternative = std::nullopt;  // see BackendConfig
  Storage storage = Storage::Auto;
};

/// A Session of one case whose dispatches were traced.
struct CaseTrace {
  std::shared_ptr<ShaderTracer> tracer;  // before the session: it must outlive it
  std::shared_ptr<Interpreter> interpreter;
  std::unique_ptr<Session> session;
  std::vector<DispatchTrace> dispatches;
};

/// Runs the case on `runtime`, which has the tracer only during the call; the case itself is not checked. With
/// `sample`, groups are left out where a dispatch makes more records than fit. Unsupported if the kernel is not
/// Vulkan's.
Result<CaseTrace> traceCase(const Case& c, const HostInputs& inputs, const OpRegistry& registry,
                            const std::shared_ptr<vulkan::VulkanRuntime>& runtime, const TraceOptions& options,
                            bool sample = true);

}  // namespace opkit::harness
