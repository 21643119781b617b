#include "harness/commands/bench_roof.h"

#include <thread>

#include "engine/base/interrupt.h"
#include "harness/bench/calibrate.h"
#include "harness/bench/roof.h"
#include "harness/bench/roof_probe.h"
#include "harness/run/terminal.h"
#include "harness/run/worker_note.h"

namespace opkit::harness {
namespace {

constexpr int kAttempts = 3;        // for a case that would fail: other programs disturb kernels and probes
constexpr double kStaleFactor = 3;  // times the floor: above, the "slow" of an entry is stale

std::vector<size_t> threadCounts(const RoofArguments& options) {
  if (!options.threads.empty()) return options.threads;
  const size_t all = std::max(1u, std::thread::hardware_concurrency());
  return all > 1 ? std::vector<size_t>{1, all} : std::vector<size_t>{1};
}

/// The lines of one run of the command.
class RoofRun {
 public:
  RoofRun(const RoofArguments& options, ResultFile& file) : options_(options), file_(file) {
    for (const size_t threads : threadCounts(options)) {
      peaks_.emplace_back(threads, probeRoof(threads));
      const DevicePeaks& peaks = peaks_.back().second;
      fmt::print("{} thread{}: {:.3g} GFLOP/s; GB/s", threads, threads == 1 ? "" : "s", peaks.flopsPerNs);
      for (const DevicePeaks::Bandwidth& each : peaks.bandwidths)
        fmt::print(" {:.3g} ({:.3g} MB)", each.bytesPerNs, each.bytes / 1e6);
      fmt::print("\n");
    }
  }

  void time(const Case& c, const OpRegistry& registry, const std::shared_ptr<Runtime>& runtime) {
    const PreparedGroup prepared = prepareGroup({{c}}, registry);
    for (auto& [threads, peaks] : peaks_) {
      CaseResult result = timeAgainstRoof(prepared.cases[0], registry, runtime, peaks, {.threads = threads});
      for (int attempt = 1; attempt < kAttempts && isSuspect(result, c) && !interrupted(); ++attempt) {
        if (isStale(result, c)) raise(peaks, probeRoof(threads));
        result = timeAgainstRoof(prepared.cases[0], registry, runtime, peaks, {.threads = threads});
      }
      if (interrupted()) return;
      file_.write(withFloor(result, c));
    }
  }
  int exitCode() const {
    fmt::print("{}", table_.toString());
    if (table_.empty()) return nothingRan("no case of this size");
    if (below_ > 0) fmt::print("{} below {:.3g} % of the roof\n", below_, 100 * options_.floor);
    return failed_ || below_ > 0 ? cli::kCheckFailed : cli::kSuccess;
  }
  const DevicePeaks& peaks() const { return peaks_.back().second; }
  size_t runsPerCase() const { return peaks_.size(); }

 private:
  /// The share would fail the run.
  bool isSuspect(const CaseResult& result, const Case& c) const {
    const bool isLow = !result.times.empty() && result.roofline < options_.floor;
    return result.status == CaseStatus::Pass && ((isLow && c.slow.empty()) || isStale(result, c));
  }
  /// The better of two probes, rate by rate.
  static void raise(DevicePeaks& peaks, const DevicePeaks& again) {
    peaks.flopsPerNs = std::max(peaks.flopsPerNs, again.flopsPerNs);
    for (size_t i = 0; i < std::min(peaks.bandwidths.size(), again.bandwidths.size()); ++i)
      peaks.bandwidths[i].bytesPerNs = std::max(peaks.bandwidths[i].bytesPerNs, again.bandwidths[i].bytesPerNs);
  }
  /// A reason that no longer holds: the share is so far above the floor that noise does not explain it.
  bool isStale(const CaseResult& result, const Case& c) const {
    return !c.slow.empty() && options_.floor > 0 && result.roofline >= kStaleFactor * options_.floor;
  }
  /// Adds the row; a share below the floor fails unless the case file says why, and a reason that no longer holds
  /// fails.
  CaseResult withFloor(CaseResult result, const Case& c) {
    const bool isLow = !result.times.empty() && result.roofline < options_.floor;
    if (isLow) result.note = c.slow;
    if (result.status == CaseStatus::Pass && isLow && c.slow.empty()) {
      result.check("floor", Status::internal("reaches {:.2g} % of the roof, expected {:.3g} %", 100 * result.roofline,
                                             100 * options_.floor));
      ++below_;
    }
    if (result.status == CaseStatus::Pass && isStale(result, c))
      result.check("slow", Status::internal("reaches {:.2g} % of the roof: delete \"slow\" ({})", 100 * result.roofline,
                                            c.slow));
    failed_ = failed_ || isFailure(result.status);
    const double ns = result.times.empty() ? 0 : result.times.front().second.min();
    const auto rate = [ns](double amount) { return ns > 0 ? fmt::format("{:.3g}", amount / ns) : std::string("-"); };
    table_.add({result.id, std::to_string(result.threads),
                result.kernel.empty() ? result.provider : result.provider + "/" + result.kernel,
                ns > 0 ? cli::formatNs(ns) : "-", rate(result.flops), rate(result.bytes),
                ns > 0 ? fmt::format("{:.1f} %", 100 * result.roofline) : "-", result.roof,
                result.status == CaseStatus::Pass ? result.note : result.reason});
    return result;
  }

  const RoofArguments& options_;
  ResultFile& file_;
  std::vector<std::pair<size_t, DevicePeaks>> peaks_;
  Table table_{{"case", "threads", "kernel", "time", "GFLOP/s", "GB/s", "of the roof", "bound by", "note"}};
  size_t below_ = 0;
  bool failed_ = false;
};

}  // namespace

void RoofArguments::add(CLI::App& command, CLI::Option* baseline) {
  CLI::Option* roof = command
                          .add_flag("--roof", wanted,
                                    "Time the sized entries on the CPU and compare them with the rates of plain loops")
                          ->excludes(baseline);
  command.add_option("--size", size, "Time the entries of this size, on each backend (default with --roof: typical)")
      ->check(CLI::IsMember({"typical", "large", "all"}));
  command.add_option("--threads", threads, "With --roof: use these numbers of threads (default: 1 and all)")
      ->delimiter(',')
      ->check(cli::wholeNumber(1, 256))
      ->needs(roof);
  command.add_option("--floor", floor, "With --roof: fail below this share, such as 0.05")
      ->check(cli::finiteNumber(0, 1))
      ->needs(roof);
}

Result<int> benchRoof(const RoofArguments& options, const CaseOptions& cases, const Shard& shard,
                      const std::string& json, const std::string& commandLine) {
  const OpRegistry& registry = plugins().registry();
  OPKIT_ASSIGN(const Catalogue catalogue, loadCases(cases, registry));
  std::vector<Case> chosen = sizedCases(catalogue, options.size.empty() ? "typical" : options.size, cases);
  shard.keepMine(chosen);
  OPKIT_ASSIGN(const std::shared_ptr<Runtime> runtime, createRuntime("cpu", {}));
  const GracefulInterrupt graceful;
  const RunPlan planned = {{"cpu", chosen.size() * threadCounts(options).size()}};
  ResultFile file;
  OPKIT_TRY(file.open(json, commandLine, cases.seed.value_or(kDefaultSeed), planned));
  noteOldBuild();
  printDevice(runtime->device());
  RoofRun run(options, file);
  file.write(runtime->device(), "", calibrate(&run.peaks()));
  Progress progress(chosen.size());
  size_t done = 0;
  for (const Case& c : chosen) {
    if (interrupted()) break;
    progress.step(c.op);
    noteWork(c.id() + " on cpu");
    run.time(c, registry, runtime);
    OPKIT_TRY(file.status());
    done += !interrupted();
  }
  progress.clear();
  const int code = run.exitCode();
  OPKIT_TRY(file.close());
  if (!interrupted()) return code;
  printInterrupted(done * run.runsPerCase(), planned, "cases", json);
  return cli::kCheckFailed;
}

}  // namespace opkit::harness
