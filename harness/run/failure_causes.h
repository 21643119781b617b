// FailureCauses: the failures of a run by cause. One mistake in a kernel fails many cases; it is shown once.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/op/op_registry.h"
#include "harness/run/results.h"

namespace opkit::harness {

class FailureCauses {
 public:
  /// True for the first failure of its cause: the operator, the backend, the kernel, the sub-check and the kind of
  /// diagnosis are those of no failure before. Failures without a diagnosis are told apart by their message, without
  /// its numbers.
  bool add(const CaseRecord& one);

  /// A case that passed, to be told apart from the failing ones. It counts where a sub-check failed that it ran too.
  void addPass(const CaseRecord& one) {
    passing_[{one.op, one.backend}].push_back({one.id, &*checks_.insert(one.checks).first});
  }

  /// For each operator and backend the failure that explains most, with its diagnosis, its command, the number of
  /// failures, and what the failing cases have in common (contrastOf); at most `most` operators. Empty if there was no
  /// failure.
  std::string summary(size_t most, const OpRegistry& registry) const;

 private:
  struct Cause {
    CaseRecord first;
    std::vector<std::string> ids;  // of every failure
  };
  struct Pass {
    std::string id;
    const std::vector<std::string>* checks;  // in checks_
  };
  struct OfOperator {
    std::map<std::string, Cause> causes;
    size_t failures = 0;
  };
  using Key = std::pair<std::string, std::string>;  // operator and backend
  std::string common(const Key& key, const OfOperator& of, const Cause& best, const OpRegistry& registry) const;

  std::map<Key, OfOperator> operators_;
  std::map<Key, std::vector<Pass>> passing_;
  std::set<std::vector<std::string>> checks_;  // few: the sub-checks of each case
};

}  // namespace opkit::harness
