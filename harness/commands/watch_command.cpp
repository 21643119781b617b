#include <chrono>
#include <limits>
#include <thread>

#include "harness/commands/commands.h"
#include "harness/run/source_table.h"
#include "harness/run/terminal.h"
#include "harness/watch/operator_build.h"
#include "harness/watch/watch.h"

namespace opkit::harness {
namespace {

constexpr double kOnceTimeoutSeconds = 1800;

struct WatchArguments {
  WatchOptions watch;
  bool limited = false;  // --budget was given
  bool once = false;
};

void printRound(const WatchRound& round, double seconds, const WatchRound& lastGood) {
  if (!round.error.empty()) {
    fmt::print("{} after {:.2f} s: {}\n", coloured(CaseStatus::Fail, "error"), seconds, round.error);
    return;
  }
  for (const std::string& block : round.blocks) fmt::print("{}", block);
  std::string time = round.deviceNs > 0 ? cli::formatNs(round.deviceNs) : "-";
  if (round.deviceNs > 0 && lastGood.deviceNs > 0)
    time += fmt::format(" ({:+.0f} % against the last good one)", 100 * (round.deviceNs / lastGood.deviceNs - 1));
  const CaseStatus status = round.good() ? CaseStatus::Pass : CaseStatus::Fail;
  const size_t groups = round.groups + round.groupsLeft;
  const std::string share =
      round.complete() ? fmt::format("all {} groups", groups)
                       : fmt::format("{} of {} groups, the rest for lack of time (--budget)", round.groups, groups);
  const char* verdict = !round.good() ? "FAIL" : round.complete() ? "ok" : "ok so far";
  const std::string built = round.buildSeconds > 0 ? fmt::format(", C++ {:.2f} s", round.buildSeconds) : "";
  fmt::print("{} after {:.2f} s: {} on {}, {} failures, margin {}, device {}, SPIR-V {} words{}\n",
             coloured(status, verdict), seconds, share, fmt::join(round.backends, ","), round.failures,
             formatNumber(round.margin), time, round.spirvWords, built);
  if (!round.tracedCase.empty())
    fmt::print("  memory of a GPU: efficiency {:.3f}, requests {:.3g} x inputs and outputs, {}\n", round.efficiency,
               round.requests, round.tracedCase);
  std::fflush(stdout);
}

/// Compiles the operators' C++ once, so that a saved file is the only one that is compiled.
void prepare(const Result<OperatorBuild>& build) {
  if (!build) {
    fmt::print("C++ needs a build of op-harness: {}\n", build.error().message());
    return;
  }
  const auto start = std::chrono::steady_clock::now();
  const auto library = build->run();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  if (library)
    fmt::print("prepared the operators' C++ in {:.1f} s: a saved .cpp is checked like a shader\n", took.count());
  else
    fmt::print("{}", library.error().message());
}

Result<int> watch(const WatchArguments& options) {
  const OpRegistry& registry = plugins().registry();
  for (const std::string& op : options.watch.ops)
    if (!registry.find(op))
      return Status::invalidArgument("--op {}: no such operator; `op-harness list` names them all", op);
  WatchOptions watched = options.watch;
  watched.changedSources = [](const std::string& source) { return changedSources(builtSources(), source); };
  if (options.once && !options.limited) {
    watched.budgetSeconds = std::numeric_limits<double>::infinity();
    watched.timeoutSeconds = kOnceTimeoutSeconds;
  }
  std::set<std::string> folders;
  for (const std::string& op : options.watch.ops) folders.insert(registry.find(op)->folder);
  const auto build = OperatorBuild::create(options.watch.source, folders);
  if (build) watched.buildOperators = [&build] { return build->run(); };
  Watcher watcher(watched, registry);
  WatchRound lastGood;
  const auto runRound = [&] {
    const auto start = std::chrono::steady_clock::now();
    const WatchRound round = watcher.run();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    printRound(round, took.count(), lastGood);
    if (round.good()) lastGood = round;
    return round;
  };
  if (options.once) watcher.takeAll();
  const WatchRound first = runRound();
  if (options.once && !watcher.unbuilt().empty()) return cli::kBadInput;
  if (options.once) {
    if (first.groups == 0 && first.error.empty()) return nothingRan("these operators have no cases");
    return first.good() ? cli::kSuccess : cli::kCheckFailed;
  }
  prepare(build);
  fmt::print("watching {}/shaders, the case files and the sources of this program; Ctrl-C ends\n",
             options.watch.source);
  std::fflush(stdout);
  std::vector<std::string> unbuilt = watcher.unbuilt();
  auto looked = std::chrono::steady_clock::now();
  while (true) {  // until a signal ends the program: a round produces nothing that must be kept
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    bool changed = watcher.poll();
    if (const auto now = std::chrono::steady_clock::now(); now - looked > std::chrono::seconds(1)) {
      looked = now;
      std::vector<std::string> unbuiltNow = watcher.unbuilt();
      changed = changed || unbuiltNow != unbuilt;
      unbuilt = std::move(unbuiltNow);
    }
    if (changed) runRound();
  }
}

}  // namespace

void addWatchCommand(CLI::App& app, CommandContext& context) {
  CLI::App* command =
      app.add_subcommand("watch", "Run an operator's cases again whenever you save its shader, C++ or case file");
  auto options = std::make_shared<WatchArguments>();
  command->add_option("--op", options->watch.ops, "Watch these operators, separated by commas")
      ->delimiter(',')
      ->required();
  command->add_option("--source", options->watch.source, "Read shaders/ and ops/ of this source tree")
      ->check(cli::existingFolder())
      ->capture_default_str();
  CLI::Option* budget =
      command->add_option("--budget", options->watch.budgetSeconds,
                          "Check for this many seconds per round, smallest groups first; --once checks all");
  budget->capture_default_str()->check(cli::seconds());
  command->add_flag("--once", options->once, "Compile every shader from the source tree, run one round and end");
  command->footer("Examples:\n  op-harness watch --op Softmax\n  op-harness watch --op Softmax --once");
  command->callback([options, budget, &context] {
    context.run = [options, budget] {
      options->limited = budget->count() > 0;
      return watch(*options);
    };
  });
}

}  // namespace opkit::harness
