// The options --oracle and --oracle-timeout of `check`.
#pragma once

#include "harness/commands/commands.h"

namespace opkit::harness {

/// Returns --oracle.
CLI::Option* addOracleOptions(CLI::App& command, ScriptOptions& options);

/// InvalidArgument unless the cases are of one operator and the script can be loaded: Python is started once before any
/// case. OK without a script.
Status checkOracle(const ScriptOptions& options, const CaseOptions& cases);

}  // namespace opkit::harness
