// checkRoundTrip: whether a folder that was written says what the case says.
#pragma once

#include <string>

#include "harness/export/exported_case.h"

namespace opkit::harness {

/// Reads the folder of `model` back. The importer must give one node of the case's operator with its parameters and
/// constants (for a model that is imported as other nodes: any), the data sets the inputs bit by bit and the expected
/// values, rounded, and bound.json the same ids, lanes and bounds. Then `conformance` must accept it on backend
/// `reference`. Internal names the first difference; other codes are those of reading.
Status checkRoundTrip(const std::string& folder, const ExportedModel& model, const OpRegistry& registry,
                      const OnnxRules& rules);

}  // namespace opkit::harness
