// The shader sanitizer: faults that a trace of every access of every group shows, whether or not the device ran into
// them.
//
//   race    two invocations of a group touch one address without a barrier between them and one of them writes; two
//           groups of a dispatch touch one address and one writes (atomics with each other excepted); a barrier that
//           some invocations of a group do not reach
//   bounds  an access outside its tensor or its shared variable, reading included; a load outside an image is none,
//   since
//           the engine uses images only with VK_EXT_image_robustness, where it gives zero
//   init    a read of shared memory or of a buffer that nothing wrote before
//   loops   a kernel makes more passes of loops than it declares to the device (harness/trace/loop_check.h)
//
// A barrier orders buffers only if its semantics say so (memoryBarrierBuffer). Images are checked for bounds only.
#pragma once

#include "harness/trace/shader_tracer.h"

namespace opkit::harness {

struct SanitizerParts {
  bool race = false;
  bool bounds = false;
  bool init = false;
  bool loops = false;

  bool watchesAccesses() const { return race || bounds || init; }

  /// "race,bounds,init,loops" or a part of it; InvalidArgument names what it expects.
  static Result<SanitizerParts> parse(const std::string& text);
};

struct ShaderFault {
  const char* kind;  // "race", "bounds" or "init"
  std::string text;  // one line: shader, places, invocations, address
};

/// One fault per kind and pair of instructions, in the order of dispatches. `written` is what the host, copies and
/// fills wrote. Unsupported if a trace lacks accesses: it names the dispatch and what it made.
Result<std::vector<ShaderFault>> sanitize(const std::vector<DispatchTrace>& dispatches,
                                          const std::vector<TracedWrite>& written, const SanitizerParts& parts);

}  // namespace opkit::harness
