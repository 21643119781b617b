// Times the runs of one session while another one, on the same device, compiles the shaders of the other networks of
// the zoo.
//
//   build/bin/sessions_bench
//
// Prints the median and the slowest run, alone and beside the compiler, for one Runtime that both sessions share and
// for a Runtime each. The caches on disk are off, so that the compiler has work for some seconds.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "engine/runtime/session.h"
#include "harness/zoo/load_model.h"
#include "harness/zoo/zoo.h"
#include "ops/builtin_ops.h"

namespace opkit {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kSeconds = 3;

template <class T>
T need(Result<T> result) {
  if (result) return *std::move(result);
  std::fprintf(stderr, "sessions_bench: %s\n", result.error().message().c_str());
  std::exit(2);
}

void need(const Status& status) { static_cast<void>(need(status.isOk() ? Result<int>(0) : Result<int>(status))); }

std::shared_ptr<Interpreter> interpreterOf(const std::string& name) {
  return need(Interpreter::create(need(loadModel("zoo:" + name)), ops::builtinOps()));
}

std::shared_ptr<Runtime> newRuntime() { return need(createRuntime("vulkan", {.cacheDir = "off"})); }

double secondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::unique_ptr<Session> sessionOf(const std::string& name, const std::shared_ptr<Runtime>& runtime) {
  auto session = need(interpreterOf(name)->createSession({.backend = "vulkan"}, runtime));
  for (const std::string& input : session->inputNames()) static_cast<void>(session->fillInput(input));  // zeros
  need(session->resize());
  return session;
}

struct Times {
  double medianMs = 0;
  double slowestMs = 0;
};

/// Runs until `done`, at least ten times.
template <class Done>
Times timeRuns(Session& session, const Done& done) {
  std::vector<double> ms;
  while (ms.size() < 10 || !done()) {
    const auto start = Clock::now();
    need(session.run());
    ms.push_back(secondsSince(start) * 1000);
  }
  std::ranges::sort(ms);
  return {ms[ms.size() / 2], ms.back()};
}

void besideACompiler(benchmark::State& state) {
  const std::string runs = "squeezenet";
  const std::shared_ptr<Runtime> runtime = newRuntime();
  const std::shared_ptr<Runtime> other = state.range(0) == 0 ? runtime : newRuntime();
  const std::unique_ptr<Session> session = sessionOf(runs, runtime);
  need(session->run());  // lavapipe compiles at the first
  for (auto _ : state) {
    const auto start = Clock::now();
    const Times alone = timeRuns(*session, [&] { return secondsSince(start) > kSeconds; });
    std::atomic<bool> finished = false;
    uint64_t pipelines = 0;
    double seconds = 0;
    std::thread compiler([&] {
      const auto began = Clock::now();
      for (const std::string& name : zooNames()) {
        if (name == runs || secondsSince(began) > kSeconds) continue;
        pipelines += sessionOf(name, other)->counters().pipelinesCreated;
      }
      seconds = secondsSince(began);
      finished = true;
    });
    const Times beside = timeRuns(*session, [&] { return finished.load(); });
    compiler.join();
    state.counters["alone_median_ms"] = alone.medianMs;
    state.counters["alone_slowest_ms"] = alone.slowestMs;
    state.counters["beside_median_ms"] = beside.medianMs;
    state.counters["beside_slowest_ms"] = beside.slowestMs;
    state.counters["slowest_over_median"] = beside.slowestMs / beside.medianMs;
    state.counters["compiled_pipelines"] = static_cast<double>(pipelines);
    state.counters["compiled_s"] = seconds;
  }
}
BENCHMARK(besideACompiler)
    ->ArgName("own_runtime")
    ->Arg(0)
    ->Arg(1)
    ->Iterations(1)
    ->Unit(benchmark::kSecond)
    ->UseRealTime();

}  // namespace
}  // namespace opkit

int main(int argc, char** argv) {
  setenv("MESA_SHADER_CACHE_DISABLE", "true", 1);  // the driver's own cache on disk
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
}
