#include "harness/trace/sanitize_case.h"

#include "harness/shaders/shader_workshop.h"
#include "harness/trace/loop_check.h"

namespace opkit::harness {
namespace {

constexpr size_t kMostNamed = 3;  // faults in the message

}  // namespace

Status sanitizeCase(const PreparedCase& at, const OpRegistry& registry,
                    const std::shared_ptr<vulkan::VulkanRuntime>& runtime, const SanitizerParts& parts,
                    const SanitizeOptions& asked) {
  if (parts.loops) {
    const Status limits = checkLoopLimits(at, registry, runtime);
    if (!limits.isOk() && (!parts.watchesAccesses() || limits.code() != StatusCode::Unsupported))
      return limits.withContext("loops");
  }
  if (!parts.watchesAccesses()) return Status::ok();
  TraceOptions options{.storage = asked.storage};
  if (asked.workshop)
    options.source = [workshop = asked.workshop](const vulkan::ShaderCode& code) {
      const auto made = workshop->compile(code.name, shader_build::DebugInfo::Keep);
      return made ? *made : std::span<const uint32_t>();
    };
  OPKIT_ASSIGN(const CaseTrace trace, traceCase(at.description, at.inputs, registry, runtime, options, false));
  if (trace.dispatches.empty()) return Status::unsupported("it dispatches no shader");
  if (asked.outputs) {
    OPKIT_ASSIGN(*asked.outputs, copyOutputs(*trace.session));
  }
  OPKIT_ASSIGN(const std::vector<ShaderFault> faults, sanitize(trace.dispatches, trace.tracer->writes(), parts));
  std::string text;
  for (size_t i = 0; i < std::min(faults.size(), kMostNamed); ++i)
    text += fmt::format("{}{}: {}", i == 0 ? "" : "; ", faults[i].kind, faults[i].text);
  if (faults.size() > kMostNamed) text += fmt::format("; and {} more", faults.size() - kMostNamed);
  if (faults.empty()) return Status::ok();
  if (!asked.source.empty()) {
    ShaderWorkshop workshop(asked.source);
    const Status lines = sanitizeCase(at, registry, runtime, parts, {.workshop = &workshop, .storage = asked.storage});
    if (lines.code() == StatusCode::Internal) return lines;
  }
  return Status::internal("{}", text);
}

}  // namespace opkit::harness
