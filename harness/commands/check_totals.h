// CheckTotals: counts of a run of `check`, by operator and backend and of all cases, and their table.
#pragma once

#include <map>
#include <set>

#include "harness/check/placement_check.h"
#include "harness/run/results.h"

namespace opkit::harness {

/// The results of one operator on one backend.
struct CheckTally {
  std::map<CaseStatus, size_t> count;
  double worstMargin = 0;
  double durationNs = 0;
  std::set<std::string> providers;
  std::set<std::string> kernels;  // "provider/kernel"
  std::set<KernelUse> uses;       // of these by dtype, and those that ran in other device classes
  size_t failures = 0;
  size_t blocks = 0;   // of these, shown
  size_t lasting = 0;  // of these, did not pass when they ran again
};

class CheckTotals {
 public:
  void add(const CaseRecord& one, const std::set<std::string>& variantKernels = {});

  /// Creates it.
  CheckTally& tallyOf(const CaseRecord& one) { return tallies_[{one.op, one.backend}]; }
  const CheckTally* find(const std::string& op, const std::string& backend) const;
  const auto& tallies() const { return tallies_; }

  size_t executed() const;
  size_t failures() const;
  bool none() const { return total_.empty(); }
  bool has(CaseStatus status) const { return total_.contains(status); }
  /// True if no case with outputs was executed, so that no dispatch is expected.
  bool onlyErrors() const;

  void printTable() const;
  /// "FAIL: 12 pass, 1 fail, 3 failed as expected", and the declared departures per provider.
  void print(bool isOldBuild) const;

 private:
  std::map<std::pair<std::string, std::string>, CheckTally> tallies_;
  std::map<std::string, size_t> departures_;  // declared and observed, by provider
  std::map<CaseStatus, size_t> total_;
};

/// Mistrusted results for our own kernels of `backend`, cpu or vulkan, that none of their operators' cases ran.
std::vector<CaseResult> neverRan(const CheckTotals& totals, const OpRegistry& registry, const std::string& backend);

}  // namespace opkit::harness
