#include "harness/bench/roof.h"

#include "engine/base/child_process.h"
#include "engine/base/interrupt.h"
#include "harness/cases/case_dtype.h"
#include "harness/check/verdict.h"

namespace opkit::harness {
namespace {

constexpr size_t kLeastRuns = 4;

/// One run: nanoseconds of its kernels.
Result<double> runOnce(Session& session, CaseResult& result) {
  OPKIT_TRY(session.run());
  double ns = 0;
  result.flops = result.bytes = 0;
  for (const Placement& row : session.placement()) {
    if (row.type == "Copy") continue;
    ns += std::max(row.hostNs, 0.0);
    result.flops += row.flops;
    result.bytes += static_cast<double>(row.bytesRead + row.bytesWritten);
    result.provider = row.raster ? "raster" : row.provider;
    result.kernel = row.kernel;
  }
  return ns;
}

Status checkAnswer(const Session& session, const OpDef& def, const PreparedCase& c, CaseResult& result) {
  OPKIT_ASSIGN(const std::vector<Tensor> outputs, copyOutputs(session));
  if (!def.unordered) result.digest = digestOf(outputs);
  const Verdict verdict = compareAll(def, c, outputs);
  return verdict.total.pass ? Status::ok() : Status::internal("{}", verdict.total.reason);
}

Status timeRuns(const PreparedCase& c, const OpRegistry& registry, const std::shared_ptr<Runtime>& runtime,
                const RoofOptions& options, CaseResult& result) {
  OPKIT_TRY(c.status);
  OPKIT_ASSIGN(const auto interpreter, makeOpInterpreter(c.description, registry, c.inputs));
  OPKIT_ASSIGN(const auto session,
               interpreter->createSession({.backend = "cpu", .threads = options.threads, .profile = true}, runtime));
  OPKIT_TRY(feed(*session, c.description, c.inputs));
  OPKIT_TRY(runOnce(*session, result).error());
  result.check("accuracy", checkAnswer(*session, *registry.find(c.description.op), c, result));
  Timing timing;
  double total = 0;
  while (timing.samples.size() < kLeastRuns || (timing.samples.size() < options.mostRuns && total < options.enoughNs)) {
    if (interrupted()) return Status::internal("interrupted");
    OPKIT_ASSIGN(const double ns, runOnce(*session, result));
    timing.samples.push_back(ns);
    total += ns;
  }
  if (total > 0) result.times.emplace_back("executeKernel", std::move(timing));
  return Status::ok();
}

}  // namespace

CaseResult timeAgainstRoof(const PreparedCase& c, const OpRegistry& registry, const std::shared_ptr<Runtime>& runtime,
                           const DevicePeaks& peaks, const RoofOptions& options) {
  CaseResult result = {.kind = "roof", .id = c.description.id(), .name = c.description.name, .op = c.description.op};
  result.backend = "cpu";
  result.device = runtime->device().name;
  result.threads = options.threads;
  result.repro = fmt::format("op-harness bench --roof --threads {} --case {}", options.threads, shellQuoted(result.id));
  result.dtype = dtypeOf(c.description, registry.find(result.op));
  if (const Status status = timeRuns(c, registry, runtime, options, result); !status.isOk())
    result.check("roof", status);
  if (result.times.empty()) return result;
  const double ns = result.times.front().second.min();
  result.roofline = peaks.share(result.flops, result.bytes, ns);
  result.roof = result.flops / peaks.flopsPerNs > result.bytes / peaks.bytesPerNs(result.bytes) ? "flops" : "bytes";
  return result;
}

}  // namespace opkit::harness
