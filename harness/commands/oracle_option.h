// The options --oracle and --oracle-timeout of `check`.
#pragma once

#include "harness/commands/commands.h"

namespace opkit::harness {

/// Returns --oracle.
CLI::Option* addOracleOptions(CLI::App& command, ScriptOptions& options);

/// InvalidArgument unless the cases are of one operator and the script can be loaded: Python is started once before any
/// case. OK without a script.
Status checkOracle(const ScriptOptions& options, const CaseOptions& cases);

/// `check --store FILE`: puts small cases with the script's values into the case file, which is made if it is missing,
/// in place of those that were stored before: all of the operator without --filter and --case, else the same cases.
/// Checks nothing. InvalidArgument if a case fails or no case can be stored; the file is unchanged then.
Result<int> storeValues(const ScriptOptions& options, const CaseOptions& cases, const std::string& file,
                        const OpRegistry& registry);

}  // namespace opkit::harness
