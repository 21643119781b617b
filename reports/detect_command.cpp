#include <algorithm>
#include <string_view>

#include "engine/base/printable.h"
#include "reports/commands.h"
#include "reports/detect/shuffled.h"
#include "reports/history/foreign_series.h"
#include "reports/history/judged.h"
#include "reports/history/store.h"
#include "reports/history/vanished.h"
#include "reports/page/page_html.h"

namespace opkit::reports {
namespace {

struct DetectArguments {
  std::string history;
  std::vector<std::string> series;
  std::string output;
  bool higherIsBetter = false, lowerIsBetter = false;  // at most one
};

void printFindings(const Judged& judged) {
  fmt::print("{}: {}\n", printable(judged.night), judged.summary());
  for (const JudgedFinding& finding : judged.findings) {
    fmt::print("{}{}\n  since    {}\n  suspect  {}\n", finding.fresh ? "new " : "", printable(finding.what),
               printable(finding.since), printable(finding.suspect));
    for (const std::string& series : finding.series) fmt::print("  series   {}\n", printable(series));
    if (!finding.repeat.empty()) fmt::print("  repeat   {}\n", finding.repeat);
    if (!finding.compare.empty()) fmt::print("  compare  {}\n", finding.compare);
  }
}

void printVanished(const std::vector<Vanished>& vanished) {
  constexpr size_t kShown = 20;
  for (size_t i = 0; i < std::min(vanished.size(), kShown); ++i)
    fmt::print("vanished {}\n  repeat   {}\n", printable(vanished[i].what()), vanished[i].repeat);
  if (vanished.size() > kShown) fmt::print("vanished {} more cases\n", vanished.size() - kShown);
}

/// The exit code of a judged history.
int codeOf(const Judged& judged, const std::string& name) {
  if (judged.better + judged.worse + judged.same + judged.insufficient == 0) {
    fmt::print(stderr, "op-report: nothing to judge: {} has no series\n", name);
    return cli::kNothingRan;
  }
  const bool failed = std::ranges::any_of(judged.findings, [](const JudgedFinding& finding) {
    return finding.fresh && finding.worse && (finding.suspect == kTheCode || finding.suspect == kUnknownSuspect);
  });
  return failed ? cli::kCheckFailed : cli::kSuccess;
}

Result<int> detectHistory(const std::string& history) {
  OPKIT_ASSIGN(const Store store, Store::open(history, Database::Mode::Read));
  for (const std::string& note : store.notes()) printNote("op-report", note);
  OPKIT_ASSIGN(const Judged judged, judgeStore(store));
  printFindings(judged);
  OPKIT_ASSIGN(const std::vector<Vanished> vanished, readVanished(store.database()));
  printVanished(vanished);
  fmt::print("{}\n", judged.halves.summary());
  for (const std::string& alarm : judged.halves.differ) fmt::print("  differs  {}\n", alarm);
  return codeOf(judged, history);
}

std::string textOf(const detect::ShuffledAlarms& alarms) {
  const detect::Settings settings;
  if (alarms.drawn == 0)
    return fmt::format("shuffled: no series has {} nights of {} runs, which a verdict needs", settings.leastNights,
                       settings.leastRuns);
  return fmt::format(
      "shuffled: {} of {} histories of the same {} nights in another order have a new finding in the last night; "
      "{:.2g} "
      "of {} series a night",
      alarms.alarmed, alarms.drawn, alarms.nights,
      static_cast<double>(alarms.found) / static_cast<double>(alarms.drawn), alarms.series);
}

/// The page of other programs' numbers: findings and series.
Status writeForeignPage(const Judged& judged, const std::vector<std::string>& facts, const std::string& path) {
  const bool isWorse =
      std::ranges::any_of(judged.findings, [](const JudgedFinding& finding) { return finding.fresh && finding.worse; });
  PageSources sources;
  sources.headlines = Headlines{fmt::format("{}: {}.", judged.night, judged.summary()), facts.front() + ".",
                                facts.back() + ".", !isWorse};
  sources.judged = judged;
  return writePage({}, sources, path);
}

Result<int> detectSeries(const DetectArguments& options) {
  OPKIT_ASSIGN(const ForeignSeries foreign, readForeignSeries(options.series, options.higherIsBetter));
  for (const std::string& note : foreign.notes) printNote("op-report", note);
  const std::string& first = options.series.front();
  if (foreign.series.empty()) return codeOf({}, first);
  const Judged judged = judgeSeries(foreign.nights, foreign.environments, foreign.series);
  printFindings(judged);
  const std::vector<std::string> facts = {
      compareHalvesOfNights(foreign.nights, foreign.series).summary(),
      textOf(detect::shuffledAlarms(historyOf(foreign.nights, foreign.environments, foreign.series), {}))};
  for (const std::string& fact : facts) fmt::print("{}\n", fact);
  if (!options.output.empty()) OPKIT_TRY(writeForeignPage(judged, facts, options.output));
  return codeOf(judged, first);
}

Result<int> runDetect(const DetectArguments& options) {
  if (!options.series.empty()) return detectSeries(options);
  if (!options.history.empty()) return detectHistory(options.history);
  return Status::invalidArgument("detect: expected --history or --series; got neither");
}

CLI::App* addUnderName(const char* name, CLI::App& app, CommandContext& context) {
  CLI::App* command =
      app.add_subcommand(name, "Print the changes of the newest night; exit 1 if the code made something worse");
  auto options = std::make_shared<DetectArguments>();
  CLI::Option* history = command->add_option("--history", options->history, "Judge this SQLite file of op-report add");
  CLI::Option* series =
      command
          ->add_option(
              "--series", options->series,
              "Judge numbers of other programs: JSON of Google Benchmark or hyperfine, a file for each night, or "
              "CSV with the columns name,run,value")
          ->check(cli::severalValues())
          ->excludes(history);
  command->add_option("--output", options->output, "Also write the findings and series of --series as one HTML page")
      ->needs(series)
      ->check(cli::outputFile());
  CLI::Option* higher =
      command->add_flag("--higher-is-better", options->higherIsBetter, "The numbers are rates")->needs(series);
  command->add_flag("--lower-is-better", options->lowerIsBetter, "The numbers are times or sizes (the default)")
      ->needs(series)
      ->excludes(higher);
  command->footer(
      "Each finding names the two nights between which it appeared, says whether code or environment changed, and "
      "gives\ncommands. Noisy series need 8 nights of 7 process runs (docs/decisions/0038-detector.md). "
      "docs/history.md "
      "says what\nthe last lines mean.\nExamples: op-report detect --history out/history.sqlite\n          op-report "
      "detect "
      "--series nights/*.json");
  const bool isFormer = std::string_view(name) == "judge";
  command->callback([options, isFormer, &context] {
    context.run = [options, isFormer] {
      if (isFormer) fmt::print(stderr, "op-report: note: `judge` is now called `detect`\n");
      return runDetect(*options);
    };
  });
  return command;
}

}  // namespace

void addDetectCommand(CLI::App& app, CommandContext& context) {
  addUnderName("detect", app, context);
  addUnderName("judge", app, context)->group("");
}

}  // namespace opkit::reports
