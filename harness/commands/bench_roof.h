// `op-harness bench --roof`.
#pragma once

#include "harness/commands/commands.h"

namespace opkit::harness {

struct RoofArguments {
  bool wanted = false;
  std::string size;             // "typical", "large" or "all"; empty: typical with --roof
  std::vector<size_t> threads;  // empty: one, and all
  double floor = 0;             // the least share; 0: none

  /// `baseline`: the option that it excludes.
  void add(CLI::App& command, CLI::Option* baseline);
};

/// Times the entries of that size on the CPU, a row per case and number of threads. The exit code: 1 if an answer is
/// wrong or a kernel stays below the floor, 3 if nothing was timed.
Result<int> benchRoof(const RoofArguments& options, const CaseOptions& cases, const Shard& shard,
                      const std::string& json, const std::string& commandLine);

}  // namespace opkit::harness
