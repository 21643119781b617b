// op-report: turns op-harness results into one self-contained HTML page.
#include <kainjow/mustache.hpp>

#include "engine/base/guard.h"
#include "engine/model/model.h"
#include "engine/tools/cli.h"
#include "engine/tools/plugins.h"
#include "ops/builtin_ops.h"
#include "reports/report_data.h"
#include "reports/report_template.h"

namespace opkit::reports {
namespace {

constexpr int kBadInput = 2;
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

int build(const std::vector<std::string>& files, const std::string& output, const std::vector<PluginInfo>& plugins) {
  Results results;
  for (const std::string& file : files)
    if (const Status status = readResults(file, results); !status.isOk()) return fail(status.message(), kBadInput);
  for (const std::string& note : notesOf(results)) fmt::print(stderr, "op-report: note: {}\n", note);
  noteUnchecked(plugins, results);
  if (executedCases(results) == 0)
    return fail(fmt::format("{} recorded cases, none of them executed: nothing to report", results.cases.size()),
                kNothingExecuted);
  kainjow::mustache::mustache page{std::string(kReportTemplate)};
  if (!page.is_valid()) return fail(page.error_message(), kBadInput);
  const std::string html = page.render(reportData(results));
  const Status written = writeFile(output, {reinterpret_cast<const uint8_t*>(html.data()), html.size()});
  if (!written.isOk()) return fail(written.message(), kBadInput);
  fmt::print("{}: {} cases\n", output, results.cases.size());
  return 0;
}

int run(int argc, char** argv) {
  CLI::App app("Turns op-harness results into reports.", "op-report");
  app.require_subcommand(1);
  app.fallthrough();  // options of the program may follow the command
  std::vector<std::string> files;
  std::string output;
  CLI::App* command = app.add_subcommand("build", "Write one self-contained HTML page from files of JSON lines");
  command->footer("Example: op-report build out/nightly/results.jsonl --output out/nightly/index.html");
  command->add_option("results", files, "Files that op-harness wrote with --json")->required();
  command->add_option("--output", output, "The page to write")->required()->check(cli::outputFile());
  cli::Plugins plugins(ops::builtinOps(), ops::builtinOnnxRules());
  plugins.add(app);
  return cli::runProgram(app, argc, argv, [&]() -> Result<int> {
    OPKIT_TRY(plugins.load());
    return build(files, output, plugins.plugins());
  });
}

}  // namespace
}  // namespace opkit::reports

int main(int argc, char** argv) {
  return opkit::guardedMain("op-report", [=] { return opkit::reports::run(argc, argv); });
}
