// bench: the cost of one case on one backend. The answer is checked before anything is timed.
//
//   create           making a Session
//   resizeCold       its first resize on a Runtime that has no pipeline yet
//   resizeShape      of a resize: the shape rule
//   resizeCreate     of a resize: choosing and making the kernel
//   resizeKernel     of a resize: the kernel's onResize
//   resizeWarm       a resize to a shape the Session knows
//   executeWall      one run on the host's clock, with uploads and downloads
//   executeDevice    the kernel by the device's own clock
//   executeRepeated  the same per kernel, many of them in one command buffer
#pragma once

#include "harness/bench/measure.h"
#include "harness/check/check.h"

namespace opkit::harness {

/// A case of a group; the other cases of the group are the second shape of the warm resize.
struct ChosenCase {
  const CaseGroup* group = nullptr;
  size_t index = 0;

  const Case& description() const { return group->cases[index]; }
};

struct BenchOptions : MeasureOptions {
  bool coldCache = false;              // the processor's caches are overwritten before every run
  std::shared_ptr<ShaderLog> shaders;  // of the Runtime; null if none are recorded
};

/// Times group.cases[index]; the other cases of the group are the second shape of the warm resize.
CaseResult benchCase(const PreparedGroup& group, size_t index, const OpRegistry& registry, const std::string& backend,
                     const std::shared_ptr<Runtime>& runtime, const BenchOptions& options);

/// The case of a group whose inputs hold most bytes.
size_t largestCase(const CaseGroup& group);

}  // namespace opkit::harness
