// A case with its data and the oracle's outputs, made once for all backends.
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
  bool coldCaches = false;          // `caches` runs on this group
  bool brief = false;               // only the sub-checks of one Session: no other modes, kernels or shapes; see kBrief
  std::vector<PreparedCase> stops;  // further shapes for the walks of a group of one case; not reported
};

/// Chooses the groups for `caches`: a separate Runtime is expensive, so one per operator and dtype. Depends only on the
/// catalogue, so that results do not depend on the order of workers.
std::set<size_t> coldCacheGroups(const Catalogue& catalogue);

PreparedCase prepareCase(const Case& c, const OpRegistry& registry);
/// Why a brief group has no other sub-checks.
inline constexpr const char* kBrief =
    "a brief check: by --brief, of a case between its whole checks, a further dtype of a sample's kernel, or a draw of "
    "over a second";

/// A brief group gets no further shapes.
PreparedGroup prepareGroup(const CaseGroup& group, const OpRegistry& registry, bool brief = false);

}  // namespace opkit::harness
