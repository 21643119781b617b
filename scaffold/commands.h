// The commands of op-scaffold. Each add function registers a subcommand whose callback stores the function to run.
#pragma once

#include <functional>
#include <string>

#include "engine/tools/cli.h"
#include "scaffold/plan.h"
#include "scaffold/templates.h"

namespace opkit::scaffold {

/// Options that every command shares, and the command that was chosen.
struct CommandContext {
  std::string root = ".";  // somewhere in the tree
  std::string overrides;   // folder of templates
  std::function<Result<int>()> run;

  /// The tree that holds `root`, whole: what a command that was killed there left behind is undone or completed.
  Result<Tree> tree() const;
  /// The same for any folder, which need not exist.
  Result<Tree> folder(const std::string& path) const;
  Templates templates() const { return Templates(overrides); }
};

void addNewCommand(CLI::App& app, CommandContext& context);
void addRemoveCommand(CLI::App& app, CommandContext& context);
void addKindsCommand(CLI::App& app, CommandContext& context);
void addListCommand(CLI::App& app, CommandContext& context);
void addWhereCommand(CLI::App& app, CommandContext& context);
void addRenameCommand(CLI::App& app, CommandContext& context);
void addFurtherKernelCommand(CLI::App& app, CommandContext& context);
void addBackendToOperatorCommand(CLI::App& app, CommandContext& context);
void addDoctorCommand(CLI::App& app, CommandContext& context);
void addBackendCommand(CLI::App& app, CommandContext& context);
void addPluginCommand(CLI::App& app, CommandContext& context);
void addEjectCommand(CLI::App& app, CommandContext& context);

/// The commands that build op-harness in this tree, to begin the next steps with; `cd` first if run from another
/// folder. They use the preset that built this program, and a partial build again for `op`.
std::string buildSteps(const Tree& tree, const std::string& op);
/// The same build again, without another configuration.
std::string rebuildStep();
/// "build/release/bin/op-harness", of the same preset.
std::string harnessProgram();
/// Prints the plan as a diff, or writes it and lists the written files; `record` is not shown. Ends with `next`,
/// commands to paste.
Result<int> carryOut(const Tree& tree, const Plan& plan, bool dryRun, const std::string& next);

}  // namespace opkit::scaffold
