// Causes: failures grouped by what they have in common, since one fault often fails many cases.
#pragma once

#include <string>
#include <vector>

#include "reports/results/reader.h"

namespace opkit::reports {

/// Failures of one kind, backend, status and sub-check with one reason, numbers aside.
struct Cause {
  std::vector<const CaseRecord*> cases;  // in the order of the results; the first one stands for all

  /// "Conv, Gemm and 3 more"; empty if the cases concern no operator.
  std::string operators() const;
};

/// Of all failures (isFailure), those with most cases first.
std::vector<Cause> causesOf(const Results& results);

}  // namespace opkit::reports
