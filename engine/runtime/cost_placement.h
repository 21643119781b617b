// Placement by cost: assigns commands to the session's backend or the CPU so that a run takes the least time.
//
// The cost of each command on either side comes from the caches or is measured (engine/backend/cost.h). A tensor that
// crosses costs one copy per direction, however many commands read it, and a submission if it enters the session's
// backend. The cheapest split is a minimal cut. Costs of conversions between layouts are not counted. Measurements use
// temporary Backends and are not bound by memoryLimitBytes.
#pragma once

#include "engine/runtime/command_view.h"
#include "engine/runtime/schedule.h"

namespace opkit {

struct CostDecision {
  bool onMain = true;  // the session's own backend, not the CPU
  std::string why;     // "vulkan 340 us, cpu 12.1 us"; empty if only one of them runs the command
};

struct CostPlan {
  std::vector<CostDecision> commands;  // in the order of the graph; empty if the session's backend is the CPU
  CostEstimate estimate;
};

/// Returns errors of kernels other than "cannot run there". Requests the CPU from `backends`.
Result<CostPlan> placeByCost(const Model& model, const EncodedGraph& graph, const SessionConfig& config,
                             BackendSet& backends);

}  // namespace opkit
