#include "harness/trace/case_trace.h"

#include "engine/backend/vulkan/pipeline_cache.h"

namespace opkit::harness {
namespace {

/// The tracer of a Runtime, as long as this lives.
class Traced {
 public:
  Traced(vulkan::VulkanRuntime& runtime, ShaderTracer* tracer) : runtime_(runtime) { runtime_.setTracer(tracer); }
  ~Traced() { runtime_.setTracer(nullptr); }
  Traced(const Traced&) = delete;
  Traced& operator=(const Traced&) = delete;

 private:
  vulkan::VulkanRuntime& runtime_;
};

Status requireVulkan(const Session& session) {
  for (const Placement& row : session.placement())
    if (row.fellBack) return Status::unsupported("runs on {}", row.backend);
  return Status::ok();
}

}  // namespace

Result<CaseTrace> traceCase(const Case& c, const HostInputs& inputs, const OpRegistry& registry,
                            const std::shared_ptr<vulkan::VulkanRuntime>& runtime, const TraceOptions& options,
                            bool sample) {
  CaseTrace trace;
  trace.tracer = std::make_shared<ShaderTracer>(options.records, options.source);
  const Traced traced(*runtime, trace.tracer.get());
  OPKIT_ASSIGN(trace.interpreter, makeOpInterpreter(c, registry, inputs));
  const SessionConfig config{.backend = "vulkan", .storage = options.storage, .alternative = options.alternative};
  OPKIT_ASSIGN(trace.session, trace.interpreter->createSession(config, runtime));
  OPKIT_TRY(feed(*trace.session, c, inputs));
  OPKIT_TRY(trace.session->resize());
  OPKIT_TRY(requireVulkan(*trace.session));
  if (sample) {
    trace.tracer->sampleOneGroup();
    OPKIT_TRY(trace.session->run());
    trace.tracer->chooseGroups();
  }
  OPKIT_TRY(trace.session->run());
  trace.dispatches = trace.tracer->dispatches();
  return trace;
}

}  // namespace opkit::harness
