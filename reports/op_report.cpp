// op-report: turns op-harness results into one self-contained HTML page, and keeps their history.
#include "engine/base/guard.h"
#include "engine/base/printable.h"
#include "engine/tools/cli.h"
#include "engine/tools/plugins.h"
#include "ops/builtin_ops.h"
#include "reports/commands.h"
#include "reports/history/store.h"
#include "reports/limits.h"
#include "reports/page/page_data.h"
#include "reports/page/page_html.h"
#include "reports/report_data.h"
#include "reports/results/writer.h"

namespace opkit::reports {
namespace {

constexpr int kNothingExecuted = 3;

int fail(const std::string& message, int code) {
  fmt::print(stderr, "op-report: {}\n", message);
  return code;
}

/// Operators of plugins without results are named: a page without them would look complete.
void noteUnchecked(const std::vector<PluginInfo>& plugins, const Results& results) {
  for (const PluginInfo& plugin : plugins)
    for (const std::string& type : plugin.operators) {
      const auto isOfType = [&](const CaseRecord& one) { return one.op == type; };
      if (std::any_of(results.cases.begin(), results.cases.end(), isOfType)) continue;
      fmt::print(stderr, "op-report: note: operator {} of plugin '{}' has no case in these results\n", type,
                 plugin.name);
    }
}

struct BuildArguments {
  std::vector<std::string> files;
  std::string history, output, data, parts, peers;
};

Result<int> build(const BuildArguments& options, const cli::Plugins& plugins) {
  const std::string& output = options.output;
  OPKIT_ASSIGN(Results results, readSources("build", options.files, options.history));
  PageSources sources;
  sources.notes = operatorNotes(plugins.registry());
  if (!options.history.empty()) OPKIT_TRY(addHistory(options.history, sources));
  if (!options.parts.empty()) {
    OPKIT_ASSIGN(sources.parts, readNightParts(options.parts, utcNow().substr(0, 10)));
  }
  if (!options.peers.empty()) {
    OPKIT_ASSIGN(sources.peers, readPeerTimes(options.peers));
  }
  for (const std::string& note : notesOf(results)) printNote("op-report", note);
  noteUnchecked(plugins.plugins(), results);
  if (executedCases(results) == 0)
    return fail(fmt::format("{} recorded cases, none of them executed: nothing to report", results.cases.size()),
                kNothingExecuted);
  cutTexts(results);
  OPKIT_TRY(writePage(results, sources, output));
  if (!options.data.empty()) OPKIT_TRY(writeText(options.data, dataText(results, sources)));
  const Headlines headlines = headlinesOf(results, sources.nightsOrNull(), sources.judgedOrNull());
  fmt::print("{}: {} cases\n{}\n{}\n{}\n", output, results.cases.size(), headlines.verdict, headlines.changes,
             headlines.share);
  return 0;
}

int run(int argc, char** argv) {
  CLI::App app("Turns op-harness results into reports and keeps their history.", "op-report");
  app.require_subcommand(1);
  app.fallthrough();  // options of the program may follow the command
  BuildArguments options;
  CommandContext context;
  CLI::App* command =
      app.add_subcommand("build", "Write one self-contained HTML page from files of JSON lines or a history");
  command->footer("Example: op-report build out/nightly/results.jsonl --output out/nightly/index.html");
  command->add_option("results", options.files, "Files that op-harness wrote with --json");
  command->add_option(
      "--history", options.history,
      "Add the changes since the night before, from this history; without files, show its newest night");
  command->add_option("--output", options.output, "Write the page to this file")->required()->check(cli::outputFile());
  command
      ->add_option("--data", options.data, "Also write what the page shows of operators and series as one JSON object")
      ->check(cli::outputFile());
  command->add_option(
      "--peers", options.peers,
      "Add times of networks beside ONNX Runtime; the file is a record of reports/peers/onnxruntime.sh");
  command->add_option(
      "--parts", options.parts,
      "Add when each part of the full night ran; the file holds the output of reports/night/parts.sh --list");
  addAddCommand(app, context);
  addHistoryCommand(app, context);
  addDetectCommand(app, context);
  addMergeCommand(app, context);
  addCompareCommand(app, context);
  addDeviceCommand(app, context);
  addShowCommand(app, context);
  cli::Plugins plugins(ops::builtinOps(), ops::builtinOnnxRules());
  addOpsCommand(app, context, plugins);
  addOnnxCommand(app, context, plugins);
  addDemoCommand(app, context);
  plugins.add(app);
  return cli::runProgram(app, argc, argv, [&]() -> Result<int> {
    OPKIT_TRY(plugins.load());
    return context.run ? context.run() : build(options, plugins);
  });
}

}  // namespace
}  // namespace opkit::reports

int main(int argc, char** argv) {
  return opkit::guardedMain("op-report", [=] { return opkit::reports::run(argc, argv); });
}
