#include "harness/bench/measure.h"

#include <benchmark/benchmark.h>

#include "engine/base/clock.h"
#include "engine/base/interrupt.h"

namespace opkit::harness {
namespace {

constexpr size_t kLeastTimings = 3;

/// Keeps every repetition and prints nothing.
class TimingCollector final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration || run.error_occurred || run.iterations == 0) continue;
      const auto iterations = static_cast<double>(run.iterations);
      timing.samples.push_back(run.real_accumulated_time / iterations * 1e9);
      timing.cpuSamples.push_back(run.cpu_accumulated_time / iterations * 1e9);
    }
  }
  Timing timing;
};

void initializeOnce() {
  static const bool done = [] {
    int count = 1;
    char name[] = "op-harness";
    char* arguments[] = {name, nullptr};
    benchmark::Initialize(&count, arguments);
    return true;
  }();
  static_cast<void>(done);
}

}  // namespace

Result<Timing> measure(const MeasureOptions& options, const std::function<Result<double>()>& subject) {
  initializeOnce();
  const double start = nowNs();
  OPKIT_TRY(subject().error());  // warm-up
  const double oneNs = nowNs() - start, sampleNs = std::max(oneNs, options.minSampleNs);
  const auto affordable = static_cast<size_t>(options.maxSubjectNs / sampleNs);
  const size_t samples = std::clamp(affordable, std::min(kLeastTimings, options.samples), options.samples);
  Status failure;
  benchmark::ClearRegisteredBenchmarks();
  benchmark::RegisterBenchmark("subject",
                               [&](benchmark::State& state) {
                                 for (auto step : state) {
                                   static_cast<void>(step);
                                   const Result<double> elapsed =
                                       interrupted() ? Status::internal("interrupted") : subject();
                                   if (!elapsed) {
                                     failure = elapsed.error();
                                     state.SkipWithError("failed");
                                     break;
                                   }
                                   state.SetIterationTime(std::max(*elapsed, 1.0) * 1e-9);
                                 }
                               })
      ->UseManualTime()
      ->MeasureProcessCPUTime()
      ->Repetitions(static_cast<int>(samples))
      ->MinTime(options.minSampleNs * 1e-9);
  TimingCollector collector;
  benchmark::RunSpecifiedBenchmarks(&collector);
  benchmark::ClearRegisteredBenchmarks();
  OPKIT_TRY(failure);
  if (collector.timing.samples.empty()) return Status::internal("nothing was measured");
  return collector.timing;
}

}  // namespace opkit::harness
