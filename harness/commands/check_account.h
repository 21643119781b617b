// CheckAccount: what a run of `check` did and did not do: the sub-checks of each operator, and how far the cases reach.
#pragma once

#include <nlohmann/json.hpp>

#include "harness/check/sub_checks.h"

namespace opkit::harness {

class CheckAccount {
 public:
  /// `line` is a case's JSON line.
  void add(const nlohmann::json& line);

  /// The shares of large, deep and batched cases, and the sub-checks that did not run.
  void printSummary() const;
  /// Operator x sub-check: how often it ran of how often it could, and below the reasons why not.
  void printSubChecks() const;
  /// The fields `reach` and `subChecks` of the summary line (reports/schema.md).
  nlohmann::json toJson() const;

 private:
  struct Reach {
    size_t cases = 0, large = 0, deep = 0, batched = 0;
    size_t stops = 0, furtherStops = 0;  // of walks; further ones are no cases
  };
  SubCheckCounts all() const;

  Reach reach_;
  std::map<std::pair<std::string, std::string>, SubCheckCounts> counts_;  // by operator and backend
};

}  // namespace opkit::harness
