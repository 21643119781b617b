// Kernels of Relu that are wrong on purpose, to test that `check` notices. Tests only.
#pragma once

#include "engine/op/op_registry.h"

namespace opkit::harness {

enum class Break {
  Nothing,
  FlipsSign,
  DropsTailGuard,  // rounds the element count up to its width
  ReturnsNan,
  WritesPastEnd,
  LeavesOneUnwritten,
  KeepsStaleState,     // never handles more elements than at its first resize
  DiffersBetweenRuns,  // host only
  AllocatesInExecute,  // host only
};

/// Puts the broken fp32 kernel first in the table of (cpu, Relu).
void addBrokenCpu(OpRegistry& registry, Break how);

#ifdef OPKIT_HAS_VULKAN
/// The same for (vulkan, Relu); the shader is test_shaders/broken.comp.
void addBrokenVulkan(OpRegistry& registry, Break how);
#endif

}  // namespace opkit::harness
