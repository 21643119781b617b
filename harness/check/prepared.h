// A case with its data and the oracle's outputs, made once for all backends.
#pragma once

#include <set>

#include "harness/cases/case_file.h"
#include "harness/check/op_model.h"
#include "harness/compare/expected.h"

namespace opkit::harness {

class ScriptOracle;

/// Expected values of another source than the card's oracle.
struct SecondOracle {
  std::vector<OracleTensor> expected;  // empty if it gave none
  Status status;  // its failure or its difference from the card's oracle; Unsupported: it does not judge the case
};

struct PreparedCase {
  Case description;
  HostInputs inputs;
  std::vector<OracleTensor> expected;
  Status status;  // of making the above
  std::optional<SecondOracle> second = {};
  std::optional<Status> stored = {};  // whether shape rule and oracle agree with stored shapes and values, if any
  /// Lane edges: the outputs with zeros for the denormal numbers of f32 among the inputs, of their sign. Else empty.
  std::vector<OracleTensor> flushed = {};

  /// The values that kernels are compared with.
  const std::vector<OracleTensor>& judge() const {
    return second && !second->expected.empty() ? second->expected : expected;
  }
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

/// With a `script` its values judge the case, and are compared with those of the card's oracle, if it has one.
PreparedCase prepareCase(const Case& c, const OpRegistry& registry, ScriptOracle* script = nullptr);
/// Why a brief group has no other sub-checks.
inline constexpr const char* kBrief =
    "a brief check: by --brief, of a case between its whole checks, a further dtype of a sample's kernel, or a draw of "
    "over a second";

/// A brief group gets no further shapes.
PreparedGroup prepareGroup(const CaseGroup& group, const OpRegistry& registry, bool brief = false,
                           ScriptOracle* script = nullptr);

}  // namespace opkit::harness
