#include <chrono>
#include <thread>

#include "harness/commands/commands.h"
#include "harness/run/terminal.h"
#include "harness/watch/watch.h"

namespace opkit::harness {
namespace {

struct Options {
  WatchOptions watch;
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
  fmt::print("{} after {:.2f} s: {} groups{}, {} failures, margin {}, device {}, SPIR-V {} words\n",
             coloured(status, round.good() ? "ok" : "FAIL"), seconds, round.groups,
             round.groupsLeft > 0 ? fmt::format(" ({} more for lack of time, see --budget)", round.groupsLeft) : "",
             round.failures, formatNumber(round.margin), time, round.spirvWords);
}

Result<int> watch(const Options& options) {
  const OpRegistry& registry = plugins().registry();
  for (const std::string& op : options.watch.ops)
    if (!registry.find(op))
      return Status::invalidArgument("--op {}: no such operator; `op-harness list` names them all", op);
  Watcher watcher(options.watch, registry);
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
  if (options.once)
    return first.good()                               ? cli::kSuccess
           : first.groups == 0 && first.error.empty() ? cli::kNothingRan
                                                      : cli::kCheckFailed;
  fmt::print("watching {}/shaders and the case files; Ctrl-C ends\n", options.watch.source);
  while (true) {  // until a signal ends the program: a round leaves nothing that must be kept
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    if (watcher.poll()) runRound();
  }
}

}  // namespace

void addWatchCommand(CLI::App& app, CommandContext& context) {
  CLI::App* command =
      app.add_subcommand("watch", "Run an operator's cases again whenever its shader or case file is saved");
  auto options = std::make_shared<Options>();
  command->add_option("--op", options->watch.ops, "Operators, separated by commas")->delimiter(',')->required();
  command->add_option("--source", options->watch.source, "The source tree with shaders/ and ops/")
      ->check(cli::existingFolder())
      ->capture_default_str();
  command->add_option("--budget", options->watch.budgetSeconds, "Seconds of checking per round")
      ->check(cli::seconds())
      ->capture_default_str();
  command->add_flag("--once", options->once, "One round with every shader compiled from the source tree, then end");
  command->footer("Examples:\n  op-harness watch --op Softmax\n  op-harness watch --op Softmax --once");
  command->callback([options, &context] { context.run = [options] { return watch(*options); }; });
}

}  // namespace opkit::harness
