// Expected values of a script for small cases, to be stored in a case file (harness/cases.md, "Stored values").
#pragma once

#include "harness/cases/case_file.h"
#include "harness/oracle/script_oracle.h"

namespace opkit::harness {

inline constexpr int64_t kMostStored = 48;  // elements of an input or an output

/// The name of a case with the values of a source.
std::string storedName(const std::string& source);

struct ScriptValues {
  std::vector<Case> cases;  // all inputs are given as values, and each output is stored
  size_t leftOut = 0;       // groups without such a case
  std::string why;          // the first of them is left out
};

/// One case for each group of the catalogue that stores no values yet: its largest small case, or else one that gets
/// smaller extents. Floating inputs are rounded to six digits first. Groups with strings or without elements are left
/// out, those with a departure, and those that the shape rule refuses when they are small, or that would prove little.
/// `source` goes to the cases. InvalidArgument names the case for which the script fails.
Result<ScriptValues> valuesOfScript(const Catalogue& catalogue, const OpRegistry& registry, ScriptOracle& script,
                                    const std::string& source);

}  // namespace opkit::harness
