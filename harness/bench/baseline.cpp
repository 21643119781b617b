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

/// InvalidArgument if the file's runs measured under other options than `given`.
Status readFigures(const std::string& path, const std::vector<std::string>& given, BenchFigures& figures) {
  reports::Results results;
  OPKIT_TRY(reports::readResults(path, results));
  const std::string expected = reports::deviceOptions(fmt::format("{}", fmt::join(given, " ")));
  for (const reports::Run& run : results.runs)
    if (const std::string other = reports::deviceOptions(run.facts.command); other != expected)
      return Status::invalidArgument("--baseline {}: measured with '{}', expected '{}'", path, other, expected);
  for (const std::string& note : reports::notesOf(results)) fmt::print(stderr, "op-harness: note: {}\n", note);
  for (const reports::CaseRecord* record : results.ofKind("bench"))
    for (const auto& [figure, timing] : record->times)
      if (timing.min > 0) figures.add(record->id, record->backend, figure, timing.min, timing.cpu.value_or(0));
  for (const reports::DeviceRecord& device : results.devices)
    if (device.software) figures.software.insert(device.backend);
  return Status::ok();
}

/// One turn of one program; adds its measurements.
Status takeTurn(const std::string& program, const std::string& id, const BaselineOptions& options,
                BenchFigures& figures) {
  const TemporaryFile results((fs::temp_directory_path() / fmt::format("op-harness-{}.jsonl", getpid())).string());
  std::error_code ignored;
  fs::remove(results.path(), ignored);
  std::vector<std::string> command = {program, "bench", "--case", id, "--json", results.path()};
  command.insert(command.end(), options.given.begin(), options.given.end());
  OPKIT_ASSIGN(const ChildRun turn, runChild(command));
  if (turn.exitCode != 0) return Status::internal("{} bench --case '{}' ended with {}", program, id, turn.exitCode);
  return readFigures(results.path(), options.given, figures);
}

Status takeTurns(const std::vector<std::string>& ids, const BaselineOptions& options, BenchFigures& base,
                 BenchFigures& now) {
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

std::string micro(double ns) { return fmt::format("{:.3g} us", ns / 1000); }

}  // namespace

void BenchFigures::add(const std::string& id, const std::string& backend, const std::string& figure, double wall,
                       double cpu) {
  const std::string key = fmt::format("{}\n{}\n{}", id, backend, figure);
  values[key].push_back(wall);
  if (cpu > 0) values[key + " cpu"].push_back(cpu);
}

std::string BusyMachine::note() const {
  const MachineTimes now = machineTimes();
  const double all = now.all() - before_.all();
  const double others = now.busy + now.stolen - before_.busy - before_.stolen - (ownSeconds() - ownBefore_);
  return noteOf(all > 0 ? others / all : 0);
}

std::string BusyMachine::noteOf(double othersShare) {
  if (othersShare < 0.05) return "";
  return fmt::format("other processes took {:.0f} % of the cores meanwhile: intervals are wide", 100 * othersShare);
}

int reportRatios(const BenchFigures& base, const BenchFigures& now, double threshold, const std::string& baseName,
                 const std::string& nowName) {
  Table table({"case", "backend", "figure", baseName, nowName, "ratio", "95 % interval", "p", "verdict"});
  size_t slower = 0, rows = 0;
  for (const auto& [key, runs] : now.values) {
    const auto other = base.values.find(key);
    if (other == base.values.end()) continue;
    ++rows;
    const RatioInterval interval = medianRatio(other->second, runs);
    const double p = mannWhitney(other->second, runs);
    const Judgement judgement = judge(p, interval, threshold, std::min(runs.size(), other->second.size()));
    slower += judgement.change == Change::Slower;
    std::istringstream parts(key);
    std::string id, backend, figure;
    std::getline(parts, id), std::getline(parts, backend), std::getline(parts, figure);
    table.add({id, backend, figure, micro(medianOf(other->second)), micro(medianOf(runs)),
               fmt::format("{:.3f}", interval.ratio), fmt::format("{:.3f} to {:.3f}", interval.low, interval.high),
               fmt::format("{:.2g}", p), textOf(judgement)});
  }
  fmt::print("{}", table.toString());
  for (const std::string& backend : now.software) cautionOf(backend, true);
  if (rows == 0) fmt::print(stderr, "op-harness: nothing to compare: no case and figure is in both\n");
  return rows == 0 ? 3 : slower > 0 ? 1 : 0;
}

void cautionOf(const std::string& backend, bool isSoftware) {
  if (!isSoftware || backend != "vulkan") return;
  fmt::print(
      "caution: vulkan is a software device here. It rewards kernels that a GPU punishes: a row per invocation, scalar "
      "loads, no shared memory.\n");
}

Result<int> compareWithBaseline(const std::vector<std::string>& ids, const BaselineOptions& options) {
  if (access(options.baseline.c_str(), R_OK) != 0)
    return Status::invalidArgument("--baseline {}: expected an op-harness program or a results file", options.baseline);
  BenchFigures base, now;
  const BusyMachine busy;
  if (access(options.baseline.c_str(), X_OK) == 0 && !fs::is_directory(options.baseline)) {
    OPKIT_TRY(takeTurns(ids, options, base, now));
  } else {
    OPKIT_TRY(readFigures(options.baseline, options.given, base));
    fmt::print("note: the baseline's figures are those of another run: nothing was interleaved\n");
    const std::string self = fs::read_symlink("/proc/self/exe").string();
    for (const std::string& id : ids)
      for (size_t round = 0; round < options.rounds; ++round) OPKIT_TRY(takeTurn(self, id, options, now));
  }
  if (const std::string note = busy.note(); !note.empty()) fmt::print("note: {}\n", note);
  return reportRatios(base, now, options.threshold, "baseline", "now");
}

}  // namespace opkit::harness
