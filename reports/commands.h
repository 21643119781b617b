// The commands of op-report. Each add function registers a subcommand whose callback stores the function to run.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/tools/cli.h"
#include "engine/tools/plugins.h"
#include "reports/results/reader.h"

namespace opkit::reports {

struct CommandContext {
  std::function<Result<int>()> run;
};

/// The results of the files, else of the newest night of the history. InvalidArgument without both.
Result<Results> readSources(const std::string& command, const std::vector<std::string>& files,
                            const std::string& history);

void addAddCommand(CLI::App& app, CommandContext& context);
void addHistoryCommand(CLI::App& app, CommandContext& context);
/// Also under its former name `judge`, which help does not show.
void addDetectCommand(CLI::App& app, CommandContext& context);
void addMergeCommand(CLI::App& app, CommandContext& context);
void addCompareCommand(CLI::App& app, CommandContext& context);
void addDeviceCommand(CLI::App& app, CommandContext& context);
/// The operators and rules of `plugins` are those of the pages; it must outlive the app.
void addOpsCommand(CLI::App& app, CommandContext& context, const cli::Plugins& plugins);
void addShowCommand(CLI::App& app, CommandContext& context);
void addOnnxCommand(CLI::App& app, CommandContext& context, const cli::Plugins& plugins);
void addDemoCommand(CLI::App& app, CommandContext& context);

}  // namespace opkit::reports
