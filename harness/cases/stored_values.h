// Stored values: what an independent source says a case gives, in the keys `expected` and `source` of its file
// (harness/cases.md). Plain functions; thread-safe.
#pragma once

#include "engine/op/op_def.h"
#include "harness/cases/case.h"

namespace opkit::harness {

/// OK if the text is a form of stored values: {"values": [..]} or {"value": v}.
Status checkStoredForm(const std::string& json);

/// OK if the case stores no values, or all its inputs are given as values and each output is stored in its form.
/// InvalidArgument says which input is not given, or which output has the wrong number of values, a value that its
/// dtype does not hold, or does not exist.
Status checkStored(const Case& c, const OpDef& def);

/// The stored values in place of those of `outputs`, the outputs of the case. An output without stored values stays.
/// Errors as above.
Result<std::vector<OracleTensor>> storedValues(const Case& c, std::vector<OracleTensor> outputs);

}  // namespace opkit::harness
