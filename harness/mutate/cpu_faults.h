// Seeded faults of CPU kernels: a table of mistakes, each wrapped around whatever kernel an operator has.
//
// Kernels in C++ cannot be recompiled while the harness runs, so the mistakes are made at their interface: inputs,
// outputs and resizes. A fault that finds nothing to spoil in a case (no bias to forget) does not count.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "engine/op/op_registry.h"

namespace opkit::harness {

struct CpuFault {
  std::string name;         // "stale-resize"
  std::string description;  // one sentence
};

/// The table.
const std::vector<CpuFault>& cpuFaults();

/// A copy of the registry in which every CPU kernel of `op` (its regions, if it is lowered) has the fault. `acted`
/// counts the runs in which something was spoiled.
OpRegistry withFault(const OpRegistry& registry, const std::string& op, const std::string& fault,
                     const std::shared_ptr<std::atomic<uint64_t>>& acted);

}  // namespace opkit::harness
