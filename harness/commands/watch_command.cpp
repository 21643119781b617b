#include <chrono>
#include <filesystem>
#include <limits>
#include <thread>

#include "harness/commands/commands.h"
#include "harness/run/source_table.h"
#include "harness/run/terminal.h"
#include "harness/trace/sanitizer.h"
#include "harness/watch/operator_build.h"
#include "harness/watch/plugin_watch.h"
#include "harness/watch/watch.h"

namespace opkit::harness {
namespace {

constexpr double kOnceTimeoutSeconds = 1800;

struct WatchArguments {
  WatchOptions watch;
  std::string build;       // of a plugin
  bool limited = false;    // --budget was given
  bool hasSource = false;  // --source was given
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

/// `check` of the same operators and plugins, as a program of its own.
std::vector<std::string> checkOf(const WatchArguments& options, const std::vector<PluginInfo>& loaded) {
  std::error_code error;
  std::vector<std::string> words = {std::filesystem::read_symlink("/proc/self/exe", error).string(), "check"};
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {name, value});
  };
  for (const PluginInfo& plugin : loaded) add("--plugin", plugin.path);
  add("--op", fmt::format("{}", fmt::join(options.watch.ops, ",")));
  add("--backend", fmt::format("{}", fmt::join(options.watch.backends, ",")));
  add("--filter", options.watch.filter);
  add("--sanitize", options.watch.sanitize);
  return words;
}

Result<int> watchPlugins(const WatchArguments& options, const std::vector<PluginInfo>& loaded) {
  if (options.limited) return Status::invalidArgument("--budget is for operators of the tree, got --plugin");
  PluginWatchOptions watched{.build = options.build, .check = checkOf(options, loaded)};
  for (const PluginInfo& plugin : loaded) watched.libraries.push_back(plugin.path);
  if (options.hasSource) watched.source = options.watch.source;
  OPKIT_ASSIGN(PluginWatcher watcher, PluginWatcher::create(watched));
  OPKIT_ASSIGN(const int code, watcher.run());
  if (options.once) return code;
  fmt::print("watching {}; Ctrl-C ends\n", watcher.describe());
  std::fflush(stdout);
  while (true) {                                                  // until a signal ends the program
    std::this_thread::sleep_for(std::chrono::milliseconds(200));  // a look reads a whole folder
    if (!watcher.poll()) continue;
    // An editor or a linker may still write.
    do std::this_thread::sleep_for(std::chrono::milliseconds(100));
    while (watcher.poll());
    OPKIT_TRY(watcher.run().error());
  }
}

Result<int> watch(const WatchArguments& options) {
  const OpRegistry& registry = plugins().registry();
  OPKIT_TRY(checkOperators(options.watch.ops, registry));
  if (const auto loaded = plugins().plugins(); !loaded.empty()) return watchPlugins(options, loaded);
  if (!options.build.empty()) return Status::invalidArgument("--build is for a plugin: name its library with --plugin");
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
  CLI::Option* source = command->add_option(
      "--source", options->watch.source,
      "Read shaders/ and ops/ of this source tree; of a plugin, the folder of its sources (default: its library's)");
  source->check(cli::existingFolder())->capture_default_str();
  command->add_option(
      "--build", options->build,
      "Build the plugin by this command of the shell when a source is saved (default: wait for its library)");
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
      "  op-harness watch --op MatMul --filter f16 --sanitize race,bounds\n"
      "  op-harness watch --op com.acme::HalfRelu --plugin build/libhalf_relu.so --build 'cmake --build build'");
  command->callback([options, budget, source, &context] {
    context.run = [options, budget, source] {
      options->hasSource = source->count() > 0;
      options->limited = budget->count() > 0;
      return watch(*options);
    };
  });
}

}  // namespace opkit::harness
