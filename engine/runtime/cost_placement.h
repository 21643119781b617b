// Placement by cost: which commands run on the session's backend and which on the CPU, so that a run takes least.
//
// What each command costs on either side is known from the caches or measured (engine/backend/cost.h); a tensor that
// crosses costs a copy, once in each direction however many commands read it, and a submission where it enters the
// session's backend. The split that costs least altogether is a minimal cut. Costs of conversions between layouts are
// not counted. Measuring happens on Backends of its own that are gone afterwards; it is not bound by memoryLimitBytes.
#pragma once

#include "engine/runtime/command_view.h"
#include "engine/runtime/schedule.h"

namespace opkit {

struct CostDecision {
  bool onMain = true;  // the session's own backend, not the CPU
  std::string why;     // "vulkan 340 us, cpu 12.1 us"; empty where only one of them runs the command
};

struct CostPlan {
  std::vector<CostDecision> commands;  // in the order of the graph; empty when the session's backend is the CPU
  CostEstimate estimate;
};

/// Errors are those of kernels that fail for another reason than being unable to run there. Asks `backends` for the
/// CPU.
Result<CostPlan> placeByCost(const Model& model, const EncodedGraph& graph, const SessionConfig& config,
                             BackendSet& backends);

}  // namespace opkit
