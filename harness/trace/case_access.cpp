#include "harness/trace/case_access.h"

#include <algorithm>

namespace opkit::harness {
namespace {

double bytesOfCase(const CaseTrace& trace, const HostInputs& inputs) {
  double bytes = 0;
  for (const std::optional<Tensor>& input : inputs)
    if (input) bytes += static_cast<double>(input->sizeBytes());
  for (const TensorDesc& output : trace.session->outputDescs()) bytes += static_cast<double>(output.sizeBytes());
  return bytes;
}

void sumUp(CaseAccess& access) {
  AccessCounts memory, shared;
  double accesses = 0, lanes = 0, most = -1;
  reports::AccessRecord& sums = access.sums;
  sums.exact = true;
  for (const DispatchProfile& one : access.dispatches) {
    memory.add(one.all);
    shared.add(one.shared);
    accesses += one.all.accesses + one.shared.accesses;
    lanes += one.all.lanes + one.shared.lanes;
    sums.footprintBytes += one.footprintBytes;
    sums.exact = sums.exact && one.isExact;
    if (one.all.requestBytes() > most) {
      most = one.all.requestBytes();
      sums.groups = one.groups;
    }
  }
  sums.efficiency = memory.efficiency();
  sums.requestBytes = memory.requestBytes();
  sums.requests = access.caseBytes > 0 ? sums.requestBytes / access.caseBytes : 0;
  sums.bankPasses = shared.bankPasses();
  sums.lanes = accesses > 0 ? lanes / (accesses * static_cast<double>(sums.width)) : 0;
}

void estimate(CaseAccess& access, const Gpu& gpu) {
  Estimate sum;
  for (const DispatchProfile& one : access.dispatches) {
    const double share = access.sums.requestBytes > 0 ? one.all.requestBytes() / access.sums.requestBytes : 0;
    sum.add(estimateOf(one, share * access.flops, gpu));
  }
  access.estimates.emplace_back(&gpu, sum);
  access.sums.estimateNs[gpu.name] = sum.seconds * 1e9;
  access.sums.limits[gpu.name] = nameOf(sum.limit());
}

/// Collects the choices that a Runtime's kernels offer, as long as this lives.
class Listening {
 public:
  Listening(vulkan::VulkanRuntime& runtime, std::map<std::string, vulkan::OfferedChoice>& choices) : runtime_(runtime) {
    runtime_.setChoiceListener([&choices](const vulkan::OfferedChoice& choice) { choices[choice.name] = choice; });
  }
  ~Listening() { runtime_.setChoiceListener(nullptr); }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

 private:
  vulkan::VulkanRuntime& runtime_;
};

}  // namespace

CaseAccess accessOf(const CaseTrace& trace, const HostInputs& inputs, std::span<const Gpu* const> gpus) {
  CaseAccess access;
  access.sums.width = gpus.front()->subgroup;
  access.caseBytes = bytesOfCase(trace, inputs);
  for (const Placement& row : trace.session->placement()) access.flops += row.flops;
  for (const DispatchTrace& one : trace.dispatches) access.dispatches.push_back(profileOf(one, gpus.front()->subgroup));
  sumUp(access);
  for (const Gpu* gpu : gpus) estimate(access, *gpu);
  return access;
}

void checkAccess(const CaseAccess& access, const Case& c, const Gpu& gpu, bool goals, CaseResult& result) {
  const reports::AccessRecord& sums = access.sums;
  const double floor = c.efficiency > 0 ? c.efficiency : goals ? kLeastEfficiency : 0;
  if (floor > 0)
    result.check("efficiency", sums.efficiency >= floor
                                   ? Status::ok()
                                   : Status::internal("efficiency of memory accesses {:.3g}, expected at least {:.3g}",
                                                      sums.efficiency, floor));
  const bool memoryBinds = access.flops / gpu.flops < access.caseBytes / gpu.bandwidth;
  const double most = c.requests > 0 ? c.requests : goals && memoryBinds ? kMostRequests : 0;
  if (most > 0)
    result.check("requests",
                 sums.requests <= most
                     ? Status::ok()
                     : Status::internal("requests {:.3g} times the bytes of inputs and outputs, expected at "
                                        "most {:.3g}",
                                        sums.requests, most));
  const double passes = c.banks > 0 ? c.banks : goals ? kMostBankPasses : 0;
  if (passes > 0)
    result.check("banks", sums.bankPasses <= passes
                              ? Status::ok()
                              : Status::internal("shared memory takes {:.3g} passes per 128 bytes, expected at most "
                                                 "{:.3g}",
                                                 sums.bankPasses, passes));
}

Result<AlternativesAccess> alternativesOf(const Case& c, const HostInputs& inputs, const OpRegistry& registry,
                                          const std::shared_ptr<vulkan::VulkanRuntime>& runtime,
                                          std::span<const Gpu* const> gpus) {
  AlternativesAccess found;
  const Listening listening(*runtime, found.choices);
  for (size_t i = 0, count = 1; i < count; ++i) {
    OPKIT_ASSIGN(const CaseTrace trace, traceCase(c, inputs, registry, runtime, {.alternative = i}));
    count = std::max<size_t>(trace.session->counters().alternatives, 1);
    found.all.push_back(accessOf(trace, inputs, gpus));
    for (DispatchProfile& one : found.all.back().dispatches) one.sites.clear();
  }
  return found;
}

size_t bestOf(std::span<const CaseAccess> alternatives) {
  const auto seconds = [](const CaseAccess& one) { return one.estimates.front().second.seconds; };
  const double least = seconds(*std::ranges::min_element(alternatives, {}, seconds));
  const auto isNear = [&](const CaseAccess& one) { return seconds(one) <= least * kEqualEstimates; };
  return static_cast<size_t>(std::ranges::find_if(alternatives, isNear) - alternatives.begin());
}

TuningCache::Entry guessOf(const vulkan::OfferedChoice& choice, std::span<const CaseAccess> alternatives) {
  TuningCache::Entry entry{choice.standard, {}};
  for (const std::optional<size_t>& alternative : choice.alternatives)
    entry.ns.push_back(alternative ? alternatives[*alternative].estimates.front().second.seconds * 1e9 : -1);
  double least = entry.ns[choice.standard];
  for (const double ns : entry.ns)
    if (ns >= 0) least = std::min(least, ns);
  if (entry.ns[choice.standard] > least * kEqualEstimates)
    entry.choice = static_cast<size_t>(std::ranges::find(entry.ns, least) - entry.ns.begin());
  return entry;
}

void checkBest(const CaseAccess& standard, std::span<const CaseAccess> alternatives, CaseResult& result) {
  const size_t best = bestOf(alternatives);
  const double ratio = standard.estimates.front().second.seconds / alternatives[best].estimates.front().second.seconds;
  result.check("alternatives",
               ratio <= kMostAboveBest
                   ? Status::ok()
                   : Status::internal("the estimate of the standard is {:.2f} times that of alternative {} of {}, "
                                      "expected at most {:.2f}",
                                      ratio, best, alternatives.size(), kMostAboveBest));
}

}  // namespace opkit::harness
