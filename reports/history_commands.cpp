#include <algorithm>
#include <filesystem>

#include "engine/base/interrupt.h"
#include "engine/base/printable.h"
#include "engine/model/model.h"
#include "reports/commands.h"
#include "reports/detect/student.h"
#include "reports/history/compare.h"
#include "reports/history/merge.h"
#include "reports/history/store.h"
#include "reports/report_data.h"

namespace opkit::reports {
namespace {

struct Arguments {
  std::string history, output;
  std::vector<std::string> results;
  SeriesFilter filter;
  std::string before, after;
  AddOptions add;
  CompareOptions compare;
  double thresholdPercent = 2;
};

Result<int> add(const Arguments& options) {
  const GracefulInterrupt graceful;
  OPKIT_ASSIGN(const std::vector<Results> files, readFiles(options.results));
  // Checks that two files do not contradict each other before the history is touched.
  OPKIT_TRY(mergeResults(files).error());
  OPKIT_ASSIGN(const AddReport report, Store::addTo(options.history, files, options.add));
  for (const std::string& note : report.notes) printNote("op-report", note);
  fmt::print("{}: {} runs added, {} continued, {} known\n", options.history, report.added, report.grown, report.known);
  return cli::kSuccess;
}

double medianOf(std::span<const double> values) {
  std::vector<double> copy(values.begin(), values.end());
  return detect::medianInPlace(copy);
}

std::string valueText(const std::string& metric, double value) {
  const std::vector<std::string>& exact = exactMetrics();
  if (std::find(exact.begin(), exact.end(), metric) == exact.end()) return formatNs(value);
  if (metric == "bits") return fmt::format("{:013x}", static_cast<uint64_t>(value));
  return fmt::format("{:.4g}", value);
}

void printSeries(const Series& series, const std::vector<Night>& nights, const std::vector<Environment>& environments) {
  const SeriesKey& key = series.key;
  fmt::print("{}\n",
             printable(fmt::format("{} on {}{}{}{}{}: {}", key.caseId, key.backend, key.provider.empty() ? "" : "/",
                                   key.provider, key.options.empty() ? "" : " ", key.options, key.metric)));
  double before = 0;
  for (const Point& point : series.points) {
    const Night& night = nights[point.night];
    const double value = medianOf(series.at(point));
    const std::string change = before > 0 && key.metric != "bits" && value != before
                                   ? fmt::format("  {:+.1f} %", 100 * (value / before - 1))
                                   : "";
    const double loop = environments[point.environment].loopNs;
    fmt::print("  {}  {}{}  {}  of {} run{}{}{}\n", printable(night.name), printable(night.commit.substr(0, 12)),
               night.dirty ? "+" : "", valueText(key.metric, value), point.count, point.count == 1 ? "" : "s", change,
               loop > 0 ? fmt::format("  (fixed loop {})", formatNs(loop)) : "");
    before = value;
  }
}

Result<int> history(const Arguments& options) {
  OPKIT_ASSIGN(const Store store, Store::open(options.history, Database::Mode::Read));
  for (const std::string& note : store.notes()) printNote("op-report", note);
  OPKIT_ASSIGN(const std::vector<Night> nights, store.nights());
  std::vector<Environment> environments;
  OPKIT_ASSIGN(const std::vector<Series> all, store.series(options.filter, environments));
  for (const Series& series : all) printSeries(series, nights, environments);
  fmt::print("{} series, {} nights\n", all.size(), nights.size());
  if (!all.empty()) return cli::kSuccess;
  fmt::print(stderr, "op-report: nothing in {} has this operator, backend, kind, case and metric\n", options.history);
  return cli::kNothingRan;
}

Result<int> merge(const Arguments& options) {
  OPKIT_ASSIGN(const std::vector<Results> files, readFiles(options.results));
  OPKIT_ASSIGN(const Merged merged, mergeResults(files));
  OPKIT_TRY(writeFile(options.output, {reinterpret_cast<const uint8_t*>(merged.text.data()), merged.text.size()}));
  fmt::print("{}: {} runs, {} left out because they came twice\n", options.output, merged.runs, merged.known);
  return cli::kSuccess;
}

Result<int> compare(const Arguments& options) {
  Results before, after;
  OPKIT_TRY(readResults(options.before, before, {.refuseCut = true}));
  OPKIT_TRY(readResults(options.after, after, {.refuseCut = true}));
  const Comparison found = compareResults(before, after, options.compare);
  for (const Finding& finding : found.findings)
    fmt::print("{} {}\n", finding.worse ? "worse " : "better",
               printable(fmt::format("{} on {}: {}", finding.caseId, finding.backend, finding.what)));
  fmt::print(
      "{} cases in both files, {} only in the first, {} only in the second; {} times tested, {} of one process "
      "run alone left out; bits changed in {} cases without another finding; {} worse, {} better\n",
      found.cases, found.onlyBefore, found.onlyAfter, found.times, found.insufficient, found.otherBits, found.worse(),
      found.findings.size() - found.worse());
  for (const auto& [name, results] : {std::pair(&options.before, &before), {&options.after, &after}})
    for (const std::string& note : notesOf(*results)) printNote("op-report", fmt::format("{}: {}", *name, note));
  if (found.cases == 0) {
    fmt::print(stderr, "op-report: nothing to compare: no case is in both files\n");
    return cli::kNothingRan;
  }
  return found.worse() > 0 ? cli::kCheckFailed : cli::kSuccess;
}

}  // namespace

void addAddCommand(CLI::App& app, CommandContext& context) {
  CLI::App* command = app.add_subcommand("add", "Add the runs of result files to a history");
  auto options = std::make_shared<Arguments>();
  command->add_option("--history", options->history, "The SQLite file; created if it does not exist")
      ->required()
      ->check(cli::changedFile());
  command->add_flag("--accept-clock", options->add.acceptClock,
                    "Add runs that are dated more than a day ahead of this machine's clock");
  command->add_option("results", options->results, "Files that op-harness wrote with --json")->required();
  command->footer(
      "Runs that the history holds already are skipped. If a file is wrong, nothing is added.\nExample: op-report add "
      "--history results.sqlite out/nightly/results.jsonl");
  command->callback([options, &context] { context.run = [options] { return add(*options); }; });
}

void addHistoryCommand(CLI::App& app, CommandContext& context) {
  CLI::App* command = app.add_subcommand("history", "Print the series of a history, night by night");
  auto options = std::make_shared<Arguments>();
  command->add_option("--history", options->history, "The SQLite file")->required();
  command->add_option("--op", options->filter.op, "Print only this operator");
  command->add_option("--backend", options->filter.backend, "Print only this backend");
  command->add_option("--kind", options->filter.kind, "Print only cases of check, bench, roof, conformance or model");
  command->add_option("--case", options->filter.caseId, "Print only the case with this id");
  command->add_option("--metric", options->filter.metrics, "Print only these metrics: executeWall, margin, status, ...")
      ->delimiter(',');
  command->footer(
      "Values are medians over the process runs of a night.\n"
      "Example: op-report history --history results.sqlite --op Softmax --metric executeWall");
  command->callback([options, &context] { context.run = [options] { return history(*options); }; });
}

void addMergeCommand(CLI::App& app, CommandContext& context) {
  CLI::App* command = app.add_subcommand("merge", "Join result files into one, each run once");
  auto options = std::make_shared<Arguments>();
  command->add_option("-o,--output", options->output, "The file to write")->required()->check(cli::outputFile());
  command->add_option("results", options->results, "Files that op-harness wrote with --json")->required();
  command->footer("Example: op-report merge -o all.jsonl shard-1.jsonl shard-2.jsonl");
  command->callback([options, &context] { context.run = [options] { return merge(*options); }; });
}

void addCompareCommand(CLI::App& app, CommandContext& context) {
  CLI::App* command = app.add_subcommand("compare", "Compare two result files; exit 1 if something is worse");
  auto options = std::make_shared<Arguments>();
  command->add_option("before", options->before, "A file that op-harness wrote with --json")->required();
  command->add_option("after", options->after, "A later file of the same kind")->required();
  command->add_option("--threshold", options->thresholdPercent, "Ignore times that change by less than this percentage")
      ->check(cli::finiteNumber(0, 1e9))
      ->capture_default_str();
  command->footer(
      "Times need two process runs in both files: run `op-harness bench --json` several times.\n"
      "Example: op-report compare before.jsonl after.jsonl");
  command->callback([options, &context] {
    context.run = [options] {
      options->compare.threshold = options->thresholdPercent / 100;
      return compare(*options);
    };
  });
}

}  // namespace opkit::reports
