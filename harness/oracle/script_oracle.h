// ScriptOracle: expected values of cases from a function in Python (docs/harness.md, "An oracle in NumPy").
//
// Floats of any width arrive there as float64, integers as int64 (u64 as uint64), so the values are those that the
// card's oracle gets. Used by one thread, the one that created it.
#pragma once

#include "engine/op/op_def.h"
#include "harness/check/op_model.h"
#include "harness/oracle/script_process.h"

namespace opkit::harness {

struct ScriptOptions {
  std::string path;
  double seconds = 10;  // for one case
};

class ScriptOracle {
 public:
  /// Errors as of ScriptProcess::start.
  static Result<ScriptOracle> start(const ScriptOptions& options);

  /// The script's values in place of those of `outputs`, which give types, shapes, and the figures of the error bound.
  /// Unsupported if an element has no number; Internal if the script fails, names its line. The script may be asked
  /// again after any error.
  Result<std::vector<OracleTensor>> values(const Case& c, const OpDef& def, const HostInputs& inputs,
                                           std::vector<OracleTensor> outputs);

 private:
  ScriptOracle(ScriptOptions options, ScriptProcess process)
      : options_(std::move(options)), process_(std::move(process)) {}

  ScriptOptions options_;
  std::optional<ScriptProcess> process_;  // nothing after it has ended
};

}  // namespace opkit::harness
