// bench: what one case costs on one backend: making a Session, resizing it on a Runtime that has no
// pipeline yet and to a shape it knows, running it as seen by the host and by the device. The answer is checked before
// anything is timed.
#pragma once

#include "harness/check/check.h"

namespace opkit::harness {

struct BenchOptions {
  size_t samples = 15;
  double minSampleNs = 1e6;   // a sample repeats its subject until it lasts this long
  double maxSubjectNs = 3e9;  // after this long a subject stops early, with at least 3 samples
};

/// Times group.cases[index]; the other cases of the group are the second shape of the warm resize.
CaseResult benchCase(const PreparedGroup& group, size_t index, const OpRegistry& registry, const std::string& backend,
                     const std::shared_ptr<Runtime>& runtime, const BenchOptions& options);

/// The case of a group whose inputs hold most bytes.
size_t largestCase(const CaseGroup& group);

}  // namespace opkit::harness
