// GuestTotals: the table of a guest's answers, by operator and state, and why cases were not asked.
#pragma once

#include <map>
#include <set>
#include <string>

#include "harness/run/results.h"

namespace opkit::harness {

class GuestTotals {
 public:
  void add(const CaseRecord& one);

  size_t cases() const { return cases_; }
  size_t executed() const { return executed_; }
  size_t failures() const { return failures_; }
  bool has(CaseStatus status) const { return total_.contains(status); }

  /// A row per operator; columns of states that no case has are left out.
  std::string table() const;
  /// The most frequent reasons of cases that were not asked, without their details.
  std::string reasons(size_t most) const;
  /// "FAIL: 812 pass, 31 fail, 2 crash, 369 unsupported" and the number of operators.
  std::string summary() const;

 private:
  struct OfOperator {
    std::map<CaseStatus, size_t> count;
    double worstMargin = 0;
    double durationNs = 0;
  };
  std::map<std::string, OfOperator> operators_;
  std::map<CaseStatus, size_t> total_;
  struct Reason {
    size_t cases = 0;
    std::set<std::string> operators;
  };
  std::map<std::string, Reason> reasons_;
  size_t cases_ = 0, executed_ = 0, failures_ = 0;
};

}  // namespace opkit::harness
