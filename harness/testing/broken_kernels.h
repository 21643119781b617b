// Kernels of Relu that are wrong on purpose, to test that `check` notices. Tests only.
#pragma once

#include <atomic>
#include <memory>

#include "engine/op/op_registry.h"

namespace opkit::harness {

// The first ones are also those of testing/broken.comp, by number.
enum class Break {
  Nothing,
  FlipsSign,
  DropsTailGuard,  // rounds the element count up to its width
  ReturnsNan,
  WritesPastEnd,
  LeavesOneUnwritten,
  KeepsStaleState,     // never handles more elements than at its first resize
  DiffersBetweenRuns,  // the rest: host only
  AllocatesInExecute,
  AllocatesOnHeap,
  CreatesPipelineInExecute,
  SubmitsTwice,
  DispatchesNothing,
  ReadsPastEnd,  // far enough to leave the tensor's last 64 bytes, and ignores what it read
  DropsNan,
  OneUlpOff,  // within the bound of one rounding, but not exact
};

/// Every kernel made since, and the number (from 1) of the one that is broken; 0 breaks all.
struct Instances {
  std::atomic<size_t> made{0};
  size_t broken = 0;
};

/// Puts the broken fp32 kernel first in the table of (cpu, Relu).
void addBrokenCpu(OpRegistry& registry, Break how,
                  const std::shared_ptr<Instances>& instances = std::make_shared<Instances>());

#ifdef OPKIT_HAS_VULKAN
/// The same for (vulkan, Relu); the shader is testing/broken.comp.
void addBrokenVulkan(OpRegistry& registry, Break how,
                     const std::shared_ptr<Instances>& instances = std::make_shared<Instances>());
#endif

}  // namespace opkit::harness
