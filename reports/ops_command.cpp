#include "engine/backend/backend_registry.h"
#include "engine/base/printable.h"
#include "engine/model/model.h"
#include "harness/run/source_table.h"
#include "reports/commands.h"
#include "reports/ops_page/ops_differences.h"
#include "reports/ops_page/ops_page.h"

namespace opkit::reports {
namespace {

struct OpsArguments {
  std::vector<std::string> results;
  std::string output, check, update;
};

int nothingExecuted(const Results& results) {
  fmt::print(stderr, "op-report: {} recorded cases, no operator was executed: nothing to report\n",
             results.cases.size());
  return cli::kNothingRan;
}

Result<OpsTable> readTable(const OpsArguments& options, const OpRegistry& registry, Results& results) {
  for (const std::string& file : options.results) OPKIT_TRY(readResults(file, results));
  auto table = tableOfResults(results, registry);
  if (!table) return table.error().withContext(options.results[0]);
  for (const std::string& note : notesOf(results)) printNote("op-report", note);
  return table;
}

/// The backends of this build that run operators of their own: not the oracle, and not the one that runs nothing.
std::vector<std::string> backendsOfBuild() {
  std::vector<std::string> names;
  for (const BackendKind& kind : backendKinds())
    if (kind.name != "reference" && kind.name != "null") names.push_back(kind.name);
  return names;
}

Result<int> writePage(const std::string& file, const OpsTable& table) {
  const std::string page = renderOpsPage(table);
  if (file.empty()) {
    fmt::print("{}", page);
    return cli::kSuccess;
  }
  OPKIT_TRY(writeFile(file, {reinterpret_cast<const uint8_t*>(page.data()), page.size()}));
  fmt::print("{}: {} operators\n", file, table.operators.size());
  return cli::kSuccess;
}

Result<OpsTable> readPage(const std::string& file) {
  OPKIT_ASSIGN(const std::vector<uint8_t> bytes, readFile(file));
  auto page = parseOpsPage(std::string(bytes.begin(), bytes.end()));
  if (!page) return page.error().withContext(file);
  return page;
}

/// Writes the page of the results, or their rows into the page to update.
Result<int> write(const OpsArguments& options, const OpRegistry& registry) {
  Results results;
  OPKIT_ASSIGN(const OpsTable table, readTable(options, registry, results));
  if (table.ran() == 0) return nothingExecuted(results);
  if (options.update.empty()) return writePage(options.output, table);
  OPKIT_ASSIGN(OpsTable page, readPage(options.update));
  auto updated = updatedOpsTable(std::move(page), table);
  if (!updated) return updated.error().withContext(options.update);
  return writePage(options.update, *updated);
}

/// Prints one line per difference; returns their number.
size_t print(const OpsDifferences& found) {
  for (const std::string& note : found.notes) printNote("op-report", note);
  for (const std::string& line : found.lines) fmt::print("{}\n", line);
  return found.lines.size();
}

Result<int> check(const OpsArguments& options, const OpRegistry& registry) {
  OPKIT_ASSIGN(const OpsTable page, readPage(options.check));
  size_t differences = print(compareWithBuild(page, tableOfBuild(registry, backendsOfBuild())));
  size_t ran = 0;
  if (!options.results.empty()) {
    Results results;
    OPKIT_ASSIGN(const OpsTable table, readTable(options, registry, results));
    ran = table.ran();
    if (ran == 0) return nothingExecuted(results);
    differences += print(compareWithRun(page, table));
  }
  if (differences > 0) {
    fmt::print("{}: {} difference{}; write it again (docs/harness.md, The page of operators)\n", options.check,
               differences, differences == 1 ? "" : "s");
    return cli::kCheckFailed;
  }
  fmt::print("{}: {} operators agree with this build{}\n", options.check, page.operators.size(),
             ran > 0 ? fmt::format(", and with {} cases", ran) : "");
  return cli::kSuccess;
}

}  // namespace

void addOpsCommand(CLI::App& app, CommandContext& context, const cli::Plugins& plugins) {
  CLI::App* command = app.add_subcommand("ops", "Write the page of operators, or compare it with the build");
  auto options = std::make_shared<OpsArguments>();
  command->add_option("results", options->results, "Files that op-harness wrote with --json");
  CLI::Option* output =
      command->add_option("--output", options->output, "Write the page to this file (default: stdout)")
          ->check(cli::outputFile());
  CLI::Option* update =
      command->add_option("--update", options->update, "Replace the rows of the results' operators in this page")
          ->check(cli::changedFile())
          ->excludes(output);
  command
      ->add_option("--check", options->check,
                   "Compare this page with the build, and with results if there are any; exit 1 if it is stale")
      ->excludes(output)
      ->excludes(update);
  command->footer(
      "The page lists kernels, error class, margin and rate of each operator, dtype and backend.\n"
      "Examples:\n  op-report ops check.jsonl bench.jsonl --output docs/ops.md\n  op-report ops --check docs/ops.md\n"
      "  op-report ops relu.jsonl --update docs/ops.md");
  command->callback([options, &context, &plugins] {
    context.run = [options, &plugins]() -> Result<int> {
      harness::noteOldBuild("op-report", "harness/");
      if (!options->check.empty()) return check(*options, plugins.registry());
      if (options->results.empty())
        return Status::invalidArgument("ops: expected result files or --check; got neither");
      return write(*options, plugins.registry());
    };
  });
}

}  // namespace opkit::reports
