// The commands of op-harness. Each add function registers a subcommand whose callback stores what to run; the
// exit codes are those of engine/tools/cli.h, and running nothing is a failure of its own.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/backend/backend_registry.h"
#include "engine/tools/cli.h"
#include "engine/tools/plugins.h"
#include "harness/cases/case_file.h"

namespace opkit::harness {

/// What a command needs from the program, and the command that was chosen.
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
void addModelCommand(CLI::App& app, CommandContext& context);
void addConformanceCommand(CLI::App& app, CommandContext& context);
void addReplayCommand(CLI::App& app, CommandContext& context);
void addMutateCommand(CLI::App& app, CommandContext& context);
void addWatchCommand(CLI::App& app, CommandContext& context);
void addShadersCommand(CLI::App& app, CommandContext& context);
void addBackendSuiteCommand(CLI::App& app, CommandContext& context);

/// Options that several commands share.
struct BackendOptions {
  std::vector<std::string> backends;
  std::string device;
  Validation validation = Validation::Off;
  std::string mask;
  std::string simd;  // the best instruction set that the CPU's kernels may use; empty: any

  void add(CLI::App& command, const std::string& defaultBackends);
  /// What createRuntime of one of the backends gets: device, validation and mask go to the backend that has a choice.
  RuntimeOptions runtimeOptions(const std::string& backend) const;
};

struct BackendLane {
  std::string name;
  std::shared_ptr<Runtime> runtime;  // shared: every session of the lane uses it
  RuntimeOptions options;            // it was made with
};
/// One Runtime per named backend. Errors are those of createRuntime.
Result<std::vector<BackendLane>> openBackends(const BackendOptions& options);

struct DescribedDevice {
  DeviceInfo info;
  std::string profile;      // JSON text of what the device's arithmetic does; empty where it is not measured
  std::string profileText;  // the same for reading
};

/// The device of each backend, described by a process of its own: this one must stay free of devices when workers are
/// to be its forks. InvalidArgument says which backend cannot be used and why.
Result<std::vector<DescribedDevice>> describeDevices(const BackendOptions& options);
Result<DescribedDevice> describeDevice(const std::string& backend, const RuntimeOptions& options);
/// "vulkan: llvmpipe (software device)"
void printDevice(const DeviceInfo& device);

/// Exit code 3, and one line on stderr that says that nothing was executed and why.
int nothingRan(const std::string& why);

/// Says on stderr, in one line, when the sources that this program was built of are others by now: what it answers is
/// true of the old ones. True when it did.
bool noteOldBuild();

struct CaseOptions {
  std::vector<std::string> ops;
  std::string filter;
  std::string id;
  std::string casesFile;
  std::optional<uint64_t> seed;
  size_t fuzz = 0;  // further cases per operator, drawn from the cards

  void add(CLI::App& command);
};
/// The built-in cases and those of plugins (PLUGIN.cases.json beside libPLUGIN.so), or those of --cases; narrowed.
Result<Catalogue> loadCases(const CaseOptions& options, const OpRegistry& registry);

/// Adds the cases that lie beside the loaded plugins; says on stderr which plugin has none.
Status appendPluginCases(Catalogue& catalogue, const OpRegistry& registry);

}  // namespace opkit::harness
