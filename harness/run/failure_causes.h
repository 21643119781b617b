// FailureCauses: the failures of a run by cause. One mistake in a kernel fails many cases; it is shown once.
#pragma once

#include <map>
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

  /// A case that passed, to be told apart from the failing ones.
  void addPass(const CaseRecord& one) { passing_[{one.op, one.backend}].push_back(one.id); }

  /// For each operator and backend the failure that explains most, with its diagnosis, its command, the number of
  /// failures, and what the failing cases have in common (contrastOf); at most `most` operators. Empty if there was no
  /// failure.
  std::string summary(size_t most, const OpRegistry& registry) const;

 private:
  struct Cause {
    CaseRecord first;
    std::vector<std::string> ids;  // of every failure
  };
  struct OfOperator {
    std::map<std::string, Cause> causes;
    size_t failures = 0;
  };
  using Key = std::pair<std::string, std::string>;  // operator and backend
  std::string common(const Key& key, const OfOperator& of, const Cause& best, const OpRegistry& registry) const;

  std::map<Key, OfOperator> operators_;
  std::map<Key, std::vector<std::string>> passing_;  // ids
};

}  // namespace opkit::harness
