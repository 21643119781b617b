// Groups of cases for other engines, as `export` and `check --ort` choose them.
#pragma once

#include "harness/commands/commands.h"
#include "harness/run/isolated_jobs.h"

namespace opkit::harness {

/// A choice of cases. Each case occurs once.
struct GroupChoice {
  CaseOptions cases;
  std::string budget;           // seconds of `check --budget` today; empty: none
  std::optional<uint64_t> day;  // in place of today, for the budget
  bool sample = false;
  bool few = false;      // written cases of each operator that differ in dtype or lane; runs nothing to choose them
  bool written = false;  // no draws with `sample` and `budget`
  Shard shard;

  /// --sample, --written, --budget and the options of cases.
  void add(CLI::App& command);
  /// Worker processes with these limits look for a sample.
  Result<std::vector<CaseGroup>> groups(const OpRegistry& registry, const IsolationLimits& limits) const;
};

/// Two entries of case files may stand for one case.
void dropRepeated(std::vector<CaseGroup>& groups);

}  // namespace opkit::harness
