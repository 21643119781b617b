// A case with its data and what the oracle expects, made once for all backends.
#pragma once

#include <set>

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
  bool coldCaches = false;          // `caches` is for this group
  std::vector<PreparedCase> stops;  // further shapes for the walks of a group of one; never reported themselves
};

/// The groups that `caches` is for: a Runtime of its own is dear, so one per operator and dtype. By the catalogue
/// alone, so that results do not depend on which worker comes to which group first.
std::set<size_t> coldCacheGroups(const Catalogue& catalogue);

PreparedGroup prepareGroup(const CaseGroup& group, const OpRegistry& registry);

}  // namespace opkit::harness
