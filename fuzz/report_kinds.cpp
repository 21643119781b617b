// Kinds of files that `op-report` and the other readers of results read: files of JSON lines, and the history.
#include <filesystem>
#include <sstream>

#include "engine/model/model.h"
#include "fuzz/full_results.h"
#include "fuzz/mutate_text.h"
#include "fuzz/text_kinds.h"
#include "harness/run/reports.h"
#include "reports/causes.h"
#include "reports/device_page.h"
#include "reports/headlines.h"
#include "reports/history/compare.h"
#include "reports/history/judged.h"
#include "reports/history/merge.h"
#include "reports/history/store.h"
#include "reports/history/vanished.h"
#include "reports/limits.h"
#include "reports/operator_text.h"
#include "reports/page/page_data.h"
#include "reports/page/page_html.h"
#include "reports/testing/run_text.h"
#include "reports/time_history.h"

namespace opkit::fuzz {
namespace {

using namespace reports;

/// Nights of a few process runs; the last is slower, and has another error and a failure.
std::vector<RunText> nightsOfRuns() {
  constexpr int kNights = 5, kRuns = 4;
  std::vector<RunText> runs;
  for (int night = 1; night <= kNights; ++night)
    for (int i = 0; i < kRuns; ++i) {
      const bool isLast = night == kNights;
      RunText& run = runs.emplace_back();
      run.id = fmt::format("n{}r{}", night, i), run.commit = fmt::format("c{}", night);
      run.started = fmt::format("2026-01-{:02}T0{}:00:00Z", night, i);
      run.ended = fmt::format("2026-01-{:02}T0{}:30:00Z", night, i);
      run.kind = run.command = i == 0 ? "check" : "bench";
      run.executeNs = (isLast ? 1500 : 1000) + i, run.margin = isLast ? 0.5 : 0.25;
      run.status = isLast && i == 0 ? "fail" : "pass";
    }
  return runs;
}

std::string textOf(const std::vector<RunText>& runs) {
  std::string text;
  for (const RunText& run : runs) text += run.text();
  return text;
}

Results read(const std::string& text) {
  Results results;
  std::istringstream stream(text);
  OPKIT_CHECK(readResults(stream, "seed", results, {.keepLines = true}).isOk());
  return results;
}

void append(std::vector<std::string>& all, const std::vector<std::string>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

/// As `build`, `show` and `device` use results.
Status show(Results results, const PageSources& sources, const TimeHistory* times) {
  static_cast<void>(headlinesOf(results, sources.nightsOrNull(), sources.judgedOrNull()));
  static_cast<void>(devicePages(results));
  const std::vector<Cause> causes = causesOf(results);
  for (const OperatorFacts& facts : operatorFacts(results, times))
    static_cast<void>(operatorText(facts, {causes, times, sources.judgedOrNull()}, Terminal{}));
  static_cast<void>(harness::junitXml(results.cases, {}, results.missing()));
  for (const CaseRecord& one : results.cases) static_cast<void>(harness::githubAnnotation(one, "relu"));
  cutTexts(results);
  return pageHtml(results, sources).error();
}

/// As every command of `op-report` uses a history; `more` is added at the end.
Status useHistory(const std::string& path, const std::vector<Results>& more, std::vector<std::string>& notes) {
  PageSources sources;
  OPKIT_ASSIGN(sources.nights, readNights(path));
  OPKIT_ASSIGN(const TimeHistory times, readTimeHistory(path));
  {
    OPKIT_ASSIGN(const Store store, Store::open(path, Database::Mode::Read));
    append(notes, store.notes());
    OPKIT_ASSIGN(const std::vector<Night> nights, store.nights());
    std::vector<Environment> environments;
    OPKIT_ASSIGN(const std::vector<Series> all, store.series({}, environments));
    for (const Series& series : all)
      for (const Point& point : series.points)
        OPKIT_CHECK(point.night < nights.size() && point.environment < environments.size() &&
                    point.first + point.count <= series.values.size());
    OPKIT_ASSIGN(sources.judged, judgeStore(store));
    OPKIT_TRY(readVanished(store.database()).error());
    OPKIT_ASSIGN(const Results newest, store.newest());
    append(notes, notesOf(newest));
    OPKIT_TRY(show(newest, sources, &times));
  }
  OPKIT_ASSIGN(const AddReport report, Store::addTo(path, more));
  append(notes, report.notes);
  return Status::ok();
}

}  // namespace

TextKind historyKind(const std::string& folder) {
  const std::string path = folder + "/history.sqlite", old = folder + "/old.sqlite";
  OPKIT_CHECK(Store::addTo(path, {read(fullResults()), read(textOf(nightsOfRuns()))}));
  {
    const Bytes sql = sourceFile("reports/testing/history1.sql");
    const auto database = Database::open(old, Database::Mode::Write);
    OPKIT_CHECK(database && database->execute({sql.begin(), sql.end()}).isOk());
  }
  const std::vector<Results> more = {read(RunText{.id = "more", .started = "2026-01-09T00:00:00Z"}.text())};
  const auto attempt = [path, more](const std::string& bytes) {
    for (const char* suffix : {"-wal", "-shm", "-journal"}) std::filesystem::remove(path + suffix);
    OPKIT_CHECK(writeFile(path, bytesOf(bytes)).isOk());
    Trial trial;
    trial.status = useHistory(path, more, trial.notes);
    return trial;
  };
  return {{*readFile(path), *readFile(old)}, mutateHistory, attempt};
}

namespace {

/// As `merge`, `compare`, `add` and the pages use results.
Status useResults(const std::string& text, const Results& others, const std::string& history,
                  std::vector<std::string>& notes) {
  Results results;
  std::istringstream stream(text);
  OPKIT_TRY(readResults(stream, "results.jsonl", results, {.keepLines = true}));
  append(notes, notesOf(results));
  OPKIT_TRY(mergeResults({others, results}).error());
  static_cast<void>(compareResults(others, results, {}));
  static_cast<void>(compareResults(results, others, {}));
  OPKIT_TRY(show(results, {}, nullptr));
  std::filesystem::remove(history);
  OPKIT_ASSIGN(const AddReport report, Store::addTo(history, {results}));
  append(notes, report.notes);
  return Status::ok();
}

}  // namespace

TextKind resultsKind(const std::string& folder) {
  const std::string runs = textOf({nightsOfRuns()[0], nightsOfRuns()[1]}), history = folder + "/added.sqlite";
  const Results others = read(RunText{.id = "other"}.text());
  const auto attempt = [others, history](const std::string& text) {
    Trial trial;
    trial.status = useResults(text, others, history, trial.notes);
    return trial;
  };
  return {{bytesOf(runs), bytesOf(fullResults()), sourceFile("reports/testing/schema1.jsonl")}, mutateText, attempt};
}

}  // namespace opkit::fuzz
