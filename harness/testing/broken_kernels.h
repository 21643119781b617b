// Kernels of Relu that are wrong on purpose, to test that `check` detects them. Tests only.
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
  KeepsStaleState,  // never handles more elements than at its first resize
  DiffersBetweenRuns,
  WritesPastScratch,     // Vulkan only
  WritesBesideConstant,  // Vulkan only: a constant that the kernel packed
  ReadsPastConstant,     // Vulkan only
  BreaksVulkansRules,    // Vulkan only: the pipeline's layout lacks what the shader uses
  AllocatesInExecute,    // the rest: host only
  AllocatesOnHeap,
  CreatesPipelineInExecute,
  SubmitsTwice,
  TakesTasksInOrder,  // of a loop that it splits only if it must
  DispatchesNothing,
  ReadsPastEnd,  // far enough past the tensor's last 64 bytes, and ignores the values read
  DropsNan,
  OneUlpOff,  // within the bound of one rounding, but not exact
  ReadsFreedConstant,
};

/// Every kernel made since, and the number (from 1) of the one that is broken; 0 breaks all.
struct Instances {
  std::atomic<size_t> made{0};
  size_t broken = 0;
};

/// Puts the broken fp32 kernel first in the table of (`backend`, Relu); `make` is called for each instance with its
/// fault. The functions below use it.
void addBroken(OpRegistry& registry, const std::string& backend, Break how, const std::shared_ptr<Instances>& instances,
               std::unique_ptr<Execution> (*make)(Break how, Backend& backend));

/// (cpu, Relu).
void addBrokenCpu(OpRegistry& registry, Break how,
                  const std::shared_ptr<Instances>& instances = std::make_shared<Instances>());

#ifdef OPKIT_HAS_VULKAN
/// (vulkan, Relu); the shader is testing/broken.comp.
void addBrokenVulkan(OpRegistry& registry, Break how,
                     const std::shared_ptr<Instances>& instances = std::make_shared<Instances>());
/// (vulkan, Relu): a kernel with two alternatives, the second of which flips the sign.
void addBrokenAlternative(OpRegistry& registry);
/// Puts a copy of the image kernel of (vulkan, `op`) before it that records only at its first resize.
void addStaleImageKernel(OpRegistry& registry, const std::string& op);
#endif

}  // namespace opkit::harness
