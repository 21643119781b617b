// debug_case: `check --debug FOLDER`: one case in this process, for a debugger, with its tensors as files.
#pragma once

#include <string>

#include "harness/commands/commands.h"

namespace opkit::harness {

struct DebugOptions {
  std::string folder;  // made if missing
  bool brief = false;  // only the sub-checks of one Session; `threads` stops threads by traps, which a debugger catches
};

/// Runs the only case of the catalogue on each backend, in this process and without other cases before it. Writes the
/// inputs, the expected and the actual outputs into the folder as .npy files, prints the plane of each wrong output
/// that has the worst element, then makes the sub-checks. Floating expected values are f64, before they are rounded;
/// dtypes that NumPy lacks become f64 or i64. Returns the exit code of `check`. InvalidArgument unless there is one
/// case.
Result<int> debugCase(const Catalogue& catalogue, const OpRegistry& registry, const BackendOptions& backends,
                      const DebugOptions& options);

}  // namespace opkit::harness
