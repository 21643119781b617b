// `op-harness shaders --access`.
#pragma once

#include "harness/commands/commands.h"
#include "harness/run/build_facts.h"

namespace opkit::harness {

struct AccessArguments {
  bool wanted = false;
  std::string size = "typical";         // or "large", or "all"
  std::vector<std::string> gpus;        // described ones; empty: the first of the list
  std::string source = sourceFolder();  // a source tree, for the lines of shaders
  Shard shard;
  std::string glsl;              // a GLSL file instead of cases
  std::vector<size_t> buffers;   // its buffers: bytes by binding
  std::vector<uint32_t> groups;  // its work groups: x, y, z
  bool goals = false;            // fail beyond the goals for every kernel
  bool alternatives = false;     // a row per alternative of the Tuner
  std::string guesses;           // a file for the least estimates of the alternatives; empty: none
  bool sites = false;            // a row per instruction that reads or writes

  void add(CLI::App& command);
};

/// `op-harness shaders --access --glsl FILE`: the same for one dispatch of a file, and the faults that the sanitizer
/// finds. Exit code 1 if it finds one.
Result<int> glslAccess(const AccessArguments& access, const BackendOptions& backend);

/// Traces the sized cases on the Vulkan device, with the kernels that the first described GPU gets, and prints what
/// they ask of its memory. Exit code 1 if a kernel is beyond a bound, 3 if nothing was traced.
Result<int> shadersAccess(AccessArguments access, BackendOptions backend, const CaseOptions& cases,
                          const std::string& json, const std::string& commandLine);

}  // namespace opkit::harness
