// FailureCauses: the failures of a run by cause. One mistake in a kernel fails many cases; it is shown once.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/run/results.h"

namespace opkit::harness {

class FailureCauses {
 public:
  /// True for the first failure of its cause: the operator, the backend, the kernel, the sub-check and the kind of
  /// diagnosis are those of no failure before. Failures without a diagnosis are told apart by their message, without
  /// its numbers.
  bool add(const CaseRecord& one);

  /// For each operator and backend the failure that explains most, with its diagnosis, its command and the number of
  /// failures; at most `most` operators. Empty if there was no failure.
  std::string summary(size_t most) const;

 private:
  struct Cause {
    CaseRecord first;
    size_t failures = 0;
  };
  struct OfOperator {
    std::map<std::string, Cause> causes;
    size_t failures = 0;
  };
  std::map<std::pair<std::string, std::string>, OfOperator> operators_;  // by operator and backend
};

}  // namespace opkit::harness
