// The commands of op-harness. Each add function registers a subcommand whose callback stores the exit code:
// 0 success, 1 a check failed, 2 wrong usage or bad input, 3 nothing was executed.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "engine/backend/backend_registry.h"
#include "harness/case_file.h"

namespace opkit::harness {

inline constexpr int kSuccess = 0;
inline constexpr int kCheckFailed = 1;
inline constexpr int kBadInput = 2;
inline constexpr int kNothingExecuted = 3;

/// What a command needs from the program.
struct CommandContext {
  std::string commandLine;  // after the program's name, for the run line
  int exitCode = kSuccess;
};

void addListCommand(CLI::App& app, CommandContext& context);
void addDevicesCommand(CLI::App& app, CommandContext& context);
void addCheckCommand(CLI::App& app, CommandContext& context);
void addBenchCommand(CLI::App& app, CommandContext& context);
void addModelCommand(CLI::App& app, CommandContext& context);
void addConformanceCommand(CLI::App& app, CommandContext& context);

/// Prints one line on stderr and returns kBadInput.
int reportBadInput(const Status& status);

/// Options that several commands share.
struct BackendOptions {
  std::vector<std::string> backends;
  std::string device;
  bool validation = false;

  void add(CLI::App& command, const std::string& defaultBackends);
};

struct BackendLane {
  std::string name;
  std::shared_ptr<Runtime> runtime;  // shared: every session of the lane uses it
};
/// One Runtime per named backend. Errors are those of createRuntime.
Result<std::vector<BackendLane>> openBackends(const BackendOptions& options);

struct CaseOptions {
  std::vector<std::string> ops;
  std::string filter;
  std::string id;
  std::string casesFile;
  std::optional<uint64_t> seed;

  void add(CLI::App& command);
};
/// The built-in cases or those of --cases, narrowed.
Result<Catalogue> loadCases(const CaseOptions& options, const OpRegistry& registry);

}  // namespace opkit::harness
