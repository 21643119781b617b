// The access profile of a case: the sums over its dispatches, bounds for them, and estimates for described GPUs.
#pragma once

#include <map>

#include "engine/backend/tuning_cache.h"
#include "harness/run/results.h"
#include "harness/trace/case_trace.h"
#include "harness/trace/gpus.h"

namespace opkit::harness {

// The goals for every kernel at sizes that users have; an entry of a case file that stays beyond one says why.
constexpr double kLeastEfficiency = 0.9;
constexpr double kMostRequests = 1.1;  // of kernels that memory binds
constexpr double kMostBankPasses = 1.1;
constexpr double kEqualEstimates = 1.02;  // times the least: as good as it, so that the standard stays
constexpr double kMostAboveBest = 1.1;    // estimate of the standard alternative over the least of all alternatives

struct CaseAccess {
  std::vector<DispatchProfile> dispatches;  // for subgroups of the first GPU
  reports::AccessRecord sums;
  std::vector<std::pair<const Gpu*, Estimate>> estimates;
  double caseBytes = 0;  // of inputs and outputs
  double flops = 0;      // by the card; 0 if it states none
};

/// REQUIRES at least one GPU. Each dispatch gets the share of the card's operations that its requests have.
CaseAccess accessOf(const CaseTrace& trace, const HostInputs& inputs, std::span<const Gpu* const> gpus);

/// Adds the sub-checks "efficiency", "requests" and "banks" to the result: against the bounds that the entry states
/// and, with `goals`, against the goals above. Kernels that arithmetic binds on the first GPU have no goal for
/// requests.
void checkAccess(const CaseAccess& access, const Case& c, const Gpu& gpu, bool goals, CaseResult& result);

struct AlternativesAccess {
  std::vector<CaseAccess> all;  // one if there is no choice; the sites of the profiles are gone
  std::map<std::string, vulkan::OfferedChoice> choices;  // by name
};

/// The profile of each alternative among which the Tuner chooses for the case.
Result<AlternativesAccess> alternativesOf(const Case& c, const HostInputs& inputs, const OpRegistry& registry,
                                          const std::shared_ptr<vulkan::VulkanRuntime>& runtime,
                                          std::span<const Gpu* const> gpus);

/// The alternative with the least estimate for the first GPU. REQUIRES one. Of those within kEqualEstimates the first:
/// the standard, if its kernel follows the device class.
size_t bestOf(std::span<const CaseAccess> alternatives);

/// The entry of a file of guesses (VulkanRuntime::readGuesses): estimates for the first GPU, and the least of them as
/// the choice; the standard if it is within kEqualEstimates of that.
TuningCache::Entry guessOf(const vulkan::OfferedChoice& choice, std::span<const CaseAccess> alternatives);

/// Adds the sub-check "alternatives": `standard` is at most kMostAboveBest times the best estimate for the first GPU.
void checkBest(const CaseAccess& standard, std::span<const CaseAccess> alternatives, CaseResult& result);

}  // namespace opkit::harness
