#include "harness/check/placement_check.h"

#include "reports/results/kernel_names.h"

namespace opkit::harness {
namespace {

/// The reason why `backend` did not run a node; the other refusals belong to the fallback backend.
struct Refused {
  std::string reason;
  bool byDevice = false;  // a kernel would have run it on a device that can do more
};

Refused refusalOf(const Placement& row, const std::string& backend) {
  Refused refused;
  for (const Refusal& refusal : row.refusals) {
    if (!refusal.provider.starts_with(backend)) continue;
    refused.reason += (refused.reason.empty() ? "" : "; ") + refusal.reason;
    refused.byDevice = refused.byDevice || refusal.byDevice;
  }
  if (refused.reason.empty()) refused.reason = "no kernel";
  return refused;
}

/// True if some Execution has elements to write.
bool hasWork(const Session& session) {
  const std::vector<TensorDesc> outputs = session.outputDescs();
  if (std::ranges::none_of(outputs, [](const TensorDesc& output) { return output.elements() > 0; })) return false;
  for (const Placement& row : session.placement())
    if (row.type != "Copy") return true;
  return false;
}

void declaredRefusal(const std::string& expected, const std::string& refused, CaseResult& result) {
  if (refused.empty()) {
    result.check("placement", Status::internal("declared to refuse with '{}', but it ran", expected));
  } else if (refused.find(expected) == std::string::npos) {
    result.check("placement", Status::internal("declared to refuse with '{}', refused with '{}'", expected, refused));
  } else {
    result.check("placement", Status::ok());
    result.status = CaseStatus::Unsupported;
    result.reason = refused;
  }
}

/// OK if the case allows that the device alone refuses it. `loopLimit` is the device's limit if it was the only reason,
/// else 0.
Status checkDeviceRefusal(const Case& c, uint64_t loopLimit, bool runsAll, const std::string& refused) {
  if (c.loops == 0) return Status::ok();
  if (loopLimit >= c.loops)
    return Status::internal(
        "{} iterations per invocation suffice, as the case says, and the device allows {}, but it was refused (write "
        "\"loops\": {{\"any\": \"the reason\"}} if the kernel needs more): {}",
        c.loops, loopLimit, refused);
  if (loopLimit == 0 && runsAll)
    return Status::internal("refused by a device that has what our kernels need: {}", refused);
  return Status::ok();
}

void undeclaredRefusal(const Case& c, const Status& byDevice, const std::string& refused, CaseResult& result) {
  if (c.anyFallback || byDevice.isOk()) {
    result.check("placement", Status::ok());
    result.status = CaseStatus::Unsupported;
    result.reason = refused;
    return;
  }
  result.check("placement", byDevice);
  result.status = CaseStatus::Fallback;
}

/// Why the kernel `declared` did not run: others refused the case, or `ran` takes it before `declared` is asked.
std::string whyAnotherRan(const Placement* other, const std::string& ran, const std::string& declared) {
  if (!other) return "";
  const std::string refusals = refusalText(*other);
  if (!refusals.empty()) return "; refused: " + refusals;
  return fmt::format("; {} comes first and takes this case, so {} was not asked", ran, declared);
}

/// The kernel that the case file names for the backend ran the operator, or the device alone prevents that.
bool checkNamedKernel(const Session& session, const Case& c, const std::string& backend, CaseResult& result) {
  const auto declared = c.kernel.find(backend);
  if (declared == c.kernel.end()) return true;
  const std::vector<Placement> rows = session.placement();
  std::string ran;
  const Placement* other = nullptr;
  for (const Placement& row : rows) {
    if (row.type != c.op) continue;
    const std::string name = row.raster ? "raster" : kernelName(row.provider, row.kernel);
    if (declared->second == name || (!row.kernel.empty() && declared->second == row.kernel)) return true;
    ran = name;
    other = &row;
  }
  const Status status =
      Status::internal("declared to run the kernel {}, but {} ran{}", declared->second,
                       other ? ran : "no kernel of the operator", whyAnotherRan(other, ran, declared->second));
  const bool byDevice = other && !other->refusals.empty() && std::ranges::all_of(other->refusals, &Refusal::byDevice);
  result.check("placement", byDevice ? Status::ok() : status);
  if (!byDevice) return false;
  result.status = CaseStatus::Unsupported;
  result.reason = refusalText(*other);
  return false;
}

}  // namespace

uint64_t loopLimitOf(const Placement& row) {
  uint64_t limit = 0;
  for (const Refusal& refusal : row.refusals) {
    if (refusal.byDevice && refusal.loopLimit == 0) return 0;
    limit = std::max(limit, refusal.loopLimit);
  }
  return limit;
}

std::string refusalText(const Placement& row) {
  std::string text;
  for (const Refusal& refusal : row.refusals)
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", refusal.provider, refusal.reason);
  return text;
}

bool checkPlacement(const Session& session, const Case& c, const std::string& backend, bool runsAll,
                    CaseResult& result) {
  result.provider = "folded";
  std::string refused;
  bool byDevice = true, isOwn = false;
  uint64_t limit = UINT64_MAX;  // limit of loops, if it was the reason of all fallbacks, else 0
  for (const Placement& row : session.placement()) {
    if (row.type == "Copy" || row.type == "Convert") continue;  // the backend's own
    // A node in its kernel form has parts around its own kernel, which names the case.
    if (!isOwn || row.type == c.op) {
      result.provider = row.raster ? "raster" : row.provider;
      result.kernel = row.kernel;
      isOwn = row.type == c.op;
    }
    result.flops += row.flops;
    if (!row.fellBack) continue;
    const Refused why = refusalOf(row, backend);
    // A reason that needs no declaration must not hide one that does.
    if (refused.empty() || byDevice) refused = why.reason;
    byDevice = byDevice && why.byDevice;
    limit = std::min(limit, loopLimitOf(row));
    result.fallbacks.push_back({row.node, row.type, why.reason, why.byDevice});
  }
  byDevice = byDevice && !refused.empty();
  if (const auto declared = c.fallback.find(backend); declared != c.fallback.end() && !byDevice) {
    declaredRefusal(declared->second, refused, result);
    return false;
  }
  if (refused.empty()) {
    if (!checkNamedKernel(session, c, backend, result)) return false;
    result.check("placement", Status::ok());
    return true;
  }
  undeclaredRefusal(c,
                    byDevice ? checkDeviceRefusal(c, limit, runsAll, refused)
                             : Status::internal("ran on another backend: {}", refused),
                    refused, result);
  if (!byDevice && result.status == CaseStatus::Fallback) result.reason = refused;
  return false;
}

bool checkIndependence(const Case& c, const std::string& backend, CaseResult& result) {
  if (backend == "reference") return false;  // it is the oracle, as its name says
  const bool isOracle = result.provider == "reference";
  const auto declared = c.unproved.find(backend);
  const bool isDeclared = declared != c.unproved.end();
  if (isOracle && !isDeclared && !c.anyFallback)
    result.check(
        "independence",
        Status::internal("the kernel is the oracle itself, so nothing is compared; write a kernel, or give the "
                         "entry \"unproved\": {{\"{}\": \"the reason\"}}",
                         backend));
  else if (!isOracle && isDeclared && result.provider != "folded")
    result.check("independence", Status::internal("declared unproved ('{}'), but a kernel of provider {} ran",
                                                  declared->second, result.provider));
  else
    result.check("independence", Status::ok());
  return isOracle;
}

std::vector<Creator> kernelsThatNeverRan(const OpRegistry& registry, const std::string& backend, const OpDef& op,
                                         const std::set<KernelUse>& ran) {
  std::vector<Creator> never;
  for (const Creator& creator : registry.creators(backend, op.type)) {
    const bool isOwn = creator.provider == "opkit" || op.type.find("::") != std::string::npos;
    // Halves of an operator that takes no f32 are widened for its kernels of f32.
    const bool widens = creator.dtypes.contains(DType::Float32) && !op.inputs.empty() &&
                        !op.inputs.front().dtypes.contains(DType::Float32);
    const auto isUse = [&](const KernelUse& use) {
      const auto dtype = dtypeFromName(use.dtype);
      const bool takes = !dtype || creator.dtypes.contains(*dtype) || (widens && *dtype == DType::Float16);
      return takes && use.kernel == kernelName(creator.provider, creator.kernel);
    };
    if (isOwn && std::ranges::none_of(ran, isUse)) never.push_back(creator);
  }
  return never;
}

Status checkCounters(const Session& session, const BackendCounters& before, const BackendCounters& after) {
  if (after.pipelinesCreated != before.pipelinesCreated)
    return Status::internal("the run created {} pipelines", after.pipelinesCreated - before.pipelinesCreated);
  if (after.executionsCreated != before.executionsCreated)
    return Status::internal("the run created {} Executions", after.executionsCreated - before.executionsCreated);
  if (after.allocations != before.allocations)
    return Status::internal("the run allocated {} buffers", after.allocations - before.allocations);
  const size_t segments = session.statistics().segments;
  if (after.submits - before.submits > segments)
    return Status::internal("the run submitted {} times for {} segments", after.submits - before.submits, segments);
  if (after.dispatches == before.dispatches && hasWork(session)) return Status::internal("the run dispatched nothing");
  return Status::ok();
}

Status checkNothingNew(const BackendCounters& before, const BackendCounters& after, bool planWasKept) {
  if (planWasKept && after.allocations != before.allocations)
    return Status::internal("returning to a known shape allocated {} buffers", after.allocations - before.allocations);
  if (after.executionsCreated != before.executionsCreated)
    return Status::internal("returning to a known shape created {} Executions",
                            after.executionsCreated - before.executionsCreated);
  if (after.pipelinesCreated != before.pipelinesCreated)
    return Status::internal("returning to a known shape created {} pipelines",
                            after.pipelinesCreated - before.pipelinesCreated);
  return Status::ok();
}

}  // namespace opkit::harness
