#include <chrono>
#include <limits>
#include <thread>

#include "harness/commands/commands.h"
#include "harness/run/source_table.h"
#include "harness/run/terminal.h"
#include "harness/trace/sanitizer.h"
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

/// "cpu,vulkan and 5 more device classes and storages"
std::string shortLanes(const std::vector<std::string>& lanes) {
  std::vector<std::string> own, others;
  for (const std::string& lane : lanes) (lane.find(',') == std::string::npos ? own : others).push_back(lane);
  if (own.empty()) return fmt::format("{}", fmt::join(others, "; "));
  const std::string first = fmt::format("{}", fmt::join(own, ","));
  return others.empty() ? first : fmt::format("{} and {} other device classes and storages", first, others.size());
}

void printRound(const WatchRound& round, double seconds, const WatchRound& lastGood) {
  if (!round.error.empty()) {
    fmt::print("{} after {:.2f} s: {}\n", coloured(CaseStatus::Fail, "error"), seconds, round.error);
    return;
  }
  for (const std::string& block : round.blocks) fmt::print("{}", block);
  for (const std::string& file : round.unseen) fmt::print("{} {}\n", coloured(CaseStatus::Fail, "not executed:"), file);
  std::string time = round.own.deviceNs > 0 ? cli::formatNs(round.own.deviceNs) : "-";
  if (round.own.deviceNs > 0 && lastGood.own.deviceNs > 0)
    time +=
        fmt::format(" ({:+.0f} % against the last good one)", 100 * (round.own.deviceNs / lastGood.own.deviceNs - 1));
  const CaseStatus status = round.good() ? CaseStatus::Pass : CaseStatus::Fail;
  const size_t groups = round.groups + round.groupsLeft;
  const std::string share =
      round.complete() ? fmt::format("all {} groups", groups)
                       : fmt::format("{} of {} groups, the rest for lack of time (--budget)", round.groups, groups);
  const bool isUnchecked = round.failures == 0 && !round.unseen.empty();
  const char* verdict = isUnchecked ? "UNCHECKED" : !round.good() ? "FAIL" : round.complete() ? "ok" : "ok so far";
  if (round.groups == 0) {
    fmt::print("{} after {:.2f} s: no case was executed\n", coloured(status, verdict), seconds);
    std::fflush(stdout);
    return;
  }
  const std::string built = round.buildSeconds > 0 ? fmt::format(", C++ {:.2f} s", round.buildSeconds) : "";
  fmt::print("{} after {:.2f} s: {} on {}, {} failures, margin {}, device {}, SPIR-V {} words{}\n",
             coloured(status, verdict), seconds, share, shortLanes(round.lanes), round.failures,
             formatNumber(round.margin), time, round.spirvWords, built);
  if (!round.own.tracedCase.empty())
    fmt::print("  memory of a GPU: efficiency {:.3f}, requests {:.3g} x inputs and outputs, {}\n", round.own.efficiency,
               round.own.requests, round.own.tracedCase);
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
  OPKIT_TRY(checkOperators(options.watch.ops, registry));
  WatchOptions watched = options.watch;
  watched.changedSources = changedSinceBuild;
  if (!options.watch.sanitize.empty())
    OPKIT_TRY(SanitizerParts::parse(options.watch.sanitize).error().withContext("--sanitize"));
  if (options.once && !options.limited) {
    watched.draws = true;
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
    const bool isUnjudged = first.error.empty() && first.failures == 0;
    if (isUnjudged && !first.unseen.empty()) return nothingRan("no case runs an edited file, named above");
    if (isUnjudged && first.groups == 0)
      return nothingRan(options.watch.filter.empty() ? "these operators have no cases" : "no case has that --filter");
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
  command->add_option("--filter", options->watch.filter, "Take only cases with this text in their id or name");
  command->add_option("--backend", options->watch.backends, "Check on these backends only, separated by commas")
      ->delimiter(',')
      ->check(CLI::IsMember({"cpu", "vulkan"}));
  command
      ->add_option("--sanitize", options->watch.sanitize,
                   "Trace the shaders of small cases and look for race,bounds,init,loops")
      ->type_name("PARTS");
  CLI::Option* budget = command->add_option(
      "--budget", options->watch.budgetSeconds,
      "Check for this many seconds per backend and device class, smallest groups first; --once checks all");
  budget->capture_default_str()->check(cli::seconds());
  command->add_flag("--once", options->once, "Compile every shader from the source tree, run one round and end");
  command->footer(
      "Examples:\n  op-harness watch --op Softmax\n  op-harness watch --op Softmax --once\n"
      "  op-harness watch --op MatMul --filter f16 --sanitize race,bounds");
  command->callback([options, budget, &context] {
    context.run = [options, budget] {
      options->limited = budget->count() > 0;
      return watch(*options);
    };
  });
}

}  // namespace opkit::harness
