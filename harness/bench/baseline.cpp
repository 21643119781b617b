#include "harness/bench/baseline.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "engine/base/child_process.h"
#include "engine/base/interrupt.h"
#include "harness/bench/statistics.h"
#include "harness/run/terminal.h"
#include "reports/results/runs.h"

namespace opkit::harness {
namespace {

namespace fs = std::filesystem;

// With 5 against 5, the Mann-Whitney test cannot reach p < 0.01.
constexpr size_t kLeastProcessRuns = 6;

/// What one program's process runs measured.
struct Figures {
  std::map<std::string, std::vector<double>> values;  // "id\nbackend\nfigure" -> one per process run
  std::set<std::string> software;                     // backends on software devices
};

/// InvalidArgument if the file's runs measured under other options than `given`.
Status readFigures(const std::string& path, const std::vector<std::string>& given, Figures& figures) {
  reports::Results results;
  OPKIT_TRY(reports::readResults(path, results));
  const std::string expected = reports::deviceOptions(fmt::format("{}", fmt::join(given, " ")));
  for (const reports::Run& run : results.runs)
    if (const std::string other = reports::deviceOptions(run.facts.command); other != expected)
      return Status::invalidArgument("--baseline {}: measured with '{}', expected '{}'", path, other, expected);
  for (const std::string& note : reports::notesOf(results)) fmt::print(stderr, "op-harness: note: {}\n", note);
  for (const reports::CaseRecord* record : results.ofKind("bench"))
    for (const auto& [figure, timing] : record->times)
      if (timing.min > 0)
        figures.values[fmt::format("{}\n{}\n{}", record->id, record->backend, figure)].push_back(timing.min);
  for (const reports::DeviceRecord& device : results.devices)
    if (device.software) figures.software.insert(device.backend);
  return Status::ok();
}

/// One turn of one program; adds its measurements.
Status takeTurn(const std::string& program, const std::string& id, const BaselineOptions& options, Figures& figures) {
  const TemporaryFile results((fs::temp_directory_path() / fmt::format("op-harness-{}.jsonl", getpid())).string());
  std::error_code ignored;
  fs::remove(results.path(), ignored);
  std::vector<std::string> command = {program, "bench", "--case", id, "--json", results.path()};
  command.insert(command.end(), options.given.begin(), options.given.end());
  OPKIT_ASSIGN(const ChildRun turn, runChild(command));
  if (turn.exitCode != 0) return Status::internal("{} bench --case '{}' ended with {}", program, id, turn.exitCode);
  return readFigures(results.path(), options.given, figures);
}

Status takeTurns(const std::vector<std::string>& ids, const BaselineOptions& options, Figures& base, Figures& now) {
  const std::string self = fs::read_symlink("/proc/self/exe").string();
  Progress progress(ids.size() * options.rounds);
  for (const std::string& id : ids)
    for (size_t round = 0; round < options.rounds; ++round) {
      progress.step(id);
      // The order alternates, so that neither program always runs on the machine that the other warmed up.
      const bool baseFirst = round % 2 == 0;
      OPKIT_TRY(takeTurn(baseFirst ? options.baseline : self, id, options, baseFirst ? base : now));
      OPKIT_TRY(takeTurn(baseFirst ? self : options.baseline, id, options, baseFirst ? now : base));
    }
  return Status::ok();
}

std::string milli(double ns) { return fmt::format("{:.3g} us", ns / 1000); }

int report(const Figures& base, const Figures& now, double threshold) {
  Table table({"case", "backend", "figure", "baseline", "now", "ratio", "95 % interval", "p", "verdict"});
  size_t slower = 0, rows = 0;
  for (const auto& [key, runs] : now.values) {
    const auto other = base.values.find(key);
    if (other == base.values.end()) continue;
    ++rows;
    const RatioInterval interval = medianRatio(other->second, runs);
    const double p = mannWhitney(other->second, runs);
    const bool enough = std::min(runs.size(), other->second.size()) >= kLeastProcessRuns;
    const Change change = enough ? judge(p, interval, threshold) : Change::Same;
    slower += change == Change::Slower;
    std::istringstream parts(key);
    std::string id, backend, figure;
    std::getline(parts, id), std::getline(parts, backend), std::getline(parts, figure);
    table.add({id, backend, figure, milli(medianOf(other->second)), milli(medianOf(runs)),
               fmt::format("{:.3f}", interval.ratio), fmt::format("{:.3f} to {:.3f}", interval.low, interval.high),
               fmt::format("{:.2g}", p),
               !enough                    ? "insufficient data"
               : change == Change::Same   ? "same"
               : change == Change::Faster ? "faster"
                                          : "SLOWER"});
  }
  fmt::print("{}", table.toString());
  for (const std::string& backend : now.software) cautionOf(backend, true);
  if (rows == 0) fmt::print(stderr, "op-harness: nothing to compare: no case and figure is in both\n");
  return rows == 0 ? 3 : slower > 0 ? 1 : 0;
}

}  // namespace

void cautionOf(const std::string& backend, bool isSoftware) {
  if (!isSoftware || backend != "vulkan") return;
  fmt::print(
      "caution: vulkan is a software device here. It rewards kernels that a GPU punishes: a row per invocation, scalar "
      "loads, no shared memory.\n");
}

Result<int> compareWithBaseline(const std::vector<std::string>& ids, const BaselineOptions& options) {
  if (access(options.baseline.c_str(), R_OK) != 0)
    return Status::invalidArgument("--baseline {}: expected an op-harness program or a results file", options.baseline);
  Figures base, now;
  if (access(options.baseline.c_str(), X_OK) == 0 && !fs::is_directory(options.baseline)) {
    OPKIT_TRY(takeTurns(ids, options, base, now));
  } else {
    OPKIT_TRY(readFigures(options.baseline, options.given, base));
    fmt::print("note: the baseline's figures are those of another run: nothing was interleaved\n");
    const std::string self = fs::read_symlink("/proc/self/exe").string();
    for (const std::string& id : ids)
      for (size_t round = 0; round < options.rounds; ++round) OPKIT_TRY(takeTurn(self, id, options, now));
  }
  return report(base, now, options.threshold);
}

}  // namespace opkit::harness
