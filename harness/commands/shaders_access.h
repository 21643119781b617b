// `op-harness shaders --access`.
#pragma once

#include "harness/commands/commands.h"

namespace opkit::harness {

struct AccessArguments {
  bool wanted = false;
  std::string size = "typical";   // or "large", or "all"
  std::vector<std::string> gpus;  // described ones; empty: the first of the list
  std::string source = ".";       // a source tree, for the lines of shaders
  bool goals = false;             // fail beyond the goals for every kernel
  bool sites = false;             // a row per instruction that reads or writes

  void add(CLI::App& command);
};

/// Traces the sized cases on the Vulkan device, with the kernels that the first described GPU gets, and prints what
/// they ask of its memory. Exit code 1 if a kernel is beyond a bound, 3 if nothing was traced.
Result<int> shadersAccess(AccessArguments access, BackendOptions backend, const CaseOptions& cases,
                          const std::string& json, const std::string& commandLine);

}  // namespace opkit::harness
