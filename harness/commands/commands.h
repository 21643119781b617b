// The commands of op-harness. Each add function registers a subcommand whose callback stores the function to run. Exit
// codes are in engine/tools/cli.h; running nothing has its own exit code.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/backend/backend_registry.h"
#include "engine/tools/cli.h"
#include "engine/tools/plugins.h"
#include "harness/cases/case_file.h"
#include "harness/cases/reach_catalogue.h"
#include "harness/oracle/script_oracle.h"
#include "harness/run/results.h"
#include "harness/run/shard.h"

namespace opkit::harness {

/// The program's data for a command, and the chosen command.
struct CommandContext {
  std::string commandLine;  // after the program's name, for the run line
  std::function<Result<int>()> run;
};

/// The operators and ONNX rules of this program: those of the build and, once the body of the program runs, those of
/// every --plugin. All commands have the option, through the program.
cli::Plugins& plugins();

void addListCommand(CLI::App& app, CommandContext& context);
void addDevicesCommand(CLI::App& app, CommandContext& context);
void addCheckCommand(CLI::App& app, CommandContext& context);
void addBenchCommand(CLI::App& app, CommandContext& context);
void addReplayCommand(CLI::App& app, CommandContext& context);
void addWatchCommand(CLI::App& app, CommandContext& context);
/// The commands that a partial build (cmake/opkit_chosen.cmake) leaves out, where each is refused in one line.
void addFurtherCommands(CLI::App& app, CommandContext& context);
void addBackendSuiteCommand(CLI::App& app, CommandContext& context);
void addCasesCommand(CLI::App& app, CommandContext& context);
void addConformanceCommand(CLI::App& app, CommandContext& context);
void addDescribeCommand(CLI::App& app, CommandContext& context);
void addExportCommand(CLI::App& app, CommandContext& context);
void addCostsCommand(CLI::App& app, CommandContext& context);
void addMarginsCommand(CLI::App& app, CommandContext& context);
void addModelCommand(CLI::App& app, CommandContext& context);
void addMutateCommand(CLI::App& app, CommandContext& context);
void addShadersCommand(CLI::App& app, CommandContext& context);
void addTracedCommand(CLI::App& app, CommandContext& context);

constexpr size_t kMostDrawn = 1'000'000;  // cases of --fuzz per operator
constexpr size_t kMostWorkers = 1024;

/// Options that several commands share.
struct BackendOptions {
  std::vector<std::string> backends;
  std::string device;
  Validation validation = Validation::Off;
  std::string mask;
  std::string sanitize;  // parts of the shader sanitizer (harness/trace/sanitizer.h); empty: none
  ScriptOptions oracle;  // a script that gives expected values; an empty path: none
  std::string simd;      // the best instruction set that the CPU's kernels may use; empty: any
  std::string margins;   // a file of recorded margins in place of the build's (`check`)

  void add(CLI::App& command, const std::string& defaultBackends);
  /// InvalidArgument if an option is for a backend that was not requested; part of opening backends.
  Status check() const;
  /// The options for createRuntime of one backend: the device goes to the backend that has a choice, validation and
  /// mask to vulkan.
  RuntimeOptions runtimeOptions(const std::string& backend) const;
};

struct BackendLane {
  std::string name;
  std::shared_ptr<Runtime> runtime;  // shared: every session of the lane uses it
  RuntimeOptions options;            // the options of its creation
};
/// One Runtime per named backend. Errors are those of createRuntime.
Result<std::vector<BackendLane>> openBackends(const BackendOptions& options);

struct DescribedDevice {
  DeviceInfo info;
  std::string profile;      // JSON text of the device profile; empty if not measured
  std::string profileText;  // the same for reading
  std::string lacks;        // see lackOf()
};

/// The device of each backend, described by a separate process: this process must not open devices if it forks workers.
/// InvalidArgument names a backend that cannot be used, with the reason.
Result<std::vector<DescribedDevice>> describeDevices(const BackendOptions& options);
Result<DescribedDevice> describeDevice(const std::string& backend, const RuntimeOptions& options);
/// "vulkan: llvmpipe (software device)"
void printDevice(const DeviceInfo& device);

/// "interrupted: 12 of 84 cases were done; their results are above and in FILE"
void printInterrupted(size_t done, const RunPlan& planned, const char* what, const std::string& json);
/// Exit code 3, and one line on stderr with the reason why nothing was executed.
int nothingRan(const std::string& why);

/// Warns in one line on stderr if the sources of this program have changed since the build: its results hold for the
/// old ones. True if it warned.
bool noteOldBuild();
/// One line on stderr if this is a partial build: "partial build for Softmax: 1 of 229 operators".
void notePartialBuild();

struct CaseOptions {
  std::vector<std::string> ops;
  std::string filter;
  std::string id;
  std::string casesFile;
  std::optional<uint64_t> seed;
  bool reach = false;  // further cases at the places of harness/cases/reach.h
  std::optional<DrawsOfDay> drawsOfDay;
  std::function<void(size_t done, size_t all)> drawProgress;  // see ReachOptions
  size_t fuzz = 0;                                            // further cases per operator, drawn from the cards

  void add(CLI::App& command);
};
/// An option that the user gave, to the program or the command.
struct GivenOption {
  std::string name;                 // "--op"
  std::vector<std::string> values;  // none for a flag

  /// Adds it as words of a command line: "--op=Softmax", or the flag.
  void appendTo(std::vector<std::string>& words) const;
};
std::vector<GivenOption> givenOptions(const CLI::App& command);

/// The option --shard.
void addShard(CLI::App& command, Shard& shard, const std::string& what);

/// The built-in cases and those of plugins (PLUGIN.cases.json beside libPLUGIN.so), or those of --cases; narrowed.
Result<Catalogue> loadCases(const CaseOptions& options, const OpRegistry& registry);

/// The cases of this size ("typical", "large" or "all"); all of a case file (--cases) without sized entries; with
/// --case, the first case of any size.
std::vector<Case> sizedCases(const Catalogue& catalogue, const std::string& size, const CaseOptions& options);

/// Adds the cases beside the loaded plugins; names plugins without cases on stderr.
Status appendPluginCases(Catalogue& catalogue, const OpRegistry& registry);

}  // namespace opkit::harness
