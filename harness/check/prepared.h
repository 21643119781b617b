// A case with its data and what the oracle expects, made once for all backends.
#pragma once

#include "harness/cases/case_file.h"
#include "harness/check/op_model.h"
#include "harness/compare/expected.h"

namespace opkit::harness {

struct PreparedCase {
  Case description;
  HostInputs inputs;
  std::vector<OracleTensor> expected;
  Status status;  // of making the above
};

struct PreparedGroup {
  std::vector<PreparedCase> cases;
  std::vector<PreparedCase> stops;  // further shapes for the walks of a group of one; never reported themselves
};

PreparedGroup prepareGroup(const CaseGroup& group, const OpRegistry& registry);

}  // namespace opkit::harness
