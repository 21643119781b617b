#include <chrono>
#include <set>

#include "harness/check/check.h"
#include "harness/commands/commands.h"
#include "harness/run/terminal.h"
#include "ops/builtin_ops.h"

namespace opkit::harness {
namespace {

// Blocks printed per operator and backend; the JSON lines hold every failure.
constexpr size_t kBlocksPerOperator = 5;

struct Options {
  BackendOptions backend;
  CaseOptions cases;
  std::string json;
  bool verbose = false;
};

/// What one operator came to on one backend.
struct Tally {
  std::map<CaseStatus, size_t> count;
  double worstMargin = 0;
  double durationNs = 0;
  std::set<std::string> providers;
};

class CheckRun {
 public:
  CheckRun(const Options& options, const OpRegistry& registry) : options_(options), registry_(registry) {}

  Result<int> run(const std::string& commandLine) {
    OPKIT_ASSIGN(const Catalogue catalogue, loadCases(options_.cases, registry_));
    OPKIT_ASSIGN(const std::vector<BackendLane> lanes, openBackends(options_.backend));
    OPKIT_TRY(file_.open(options_.json, commandLine, options_.cases.seed.value_or(kDefaultSeed)));
    for (const BackendLane& lane : lanes) {
      printDevice(lane);
      checkers_.emplace_back(registry_, lane.name, lane.runtime);
    }
    checkAll(catalogue);
    return finish();
  }

 private:
  void printDevice(const BackendLane& lane) {
    const DeviceInfo& device = lane.runtime->device();
    fmt::print("{}: {}{}\n", lane.name, device.name, device.software ? " (software device)" : "");
    file_.write(device);
  }

  void checkAll(const Catalogue& catalogue) {
    Progress progress(catalogue.groups.size() + catalogue.errors.size());
    for (const CaseGroup& group : catalogue.groups) {
      progress.step(group.cases.front().op);
      const PreparedGroup prepared = prepareGroup(group, registry_);
      for (Checker& checker : checkers_)
        for (const CaseResult& result : checker.checkGroup(prepared)) record(result, progress);
    }
    for (const ErrorCase& error : catalogue.errors) {
      progress.step(error.op);
      for (Checker& checker : checkers_) record(checker.checkError(error), progress);
    }
  }

  void record(const CaseResult& result, Progress& progress) {
    file_.write(result);
    Tally& tally = tallies_[{result.op, result.backend}];
    ++tally.count[result.status];
    ++total_[result.status];
    tally.durationNs += result.durationNs;
    if (!result.provider.empty()) tally.providers.insert(result.provider);
    if (result.accuracy && result.status == CaseStatus::Pass)
      tally.worstMargin = std::max(tally.worstMargin, result.accuracy->margin);
    if (!isFailure(result.status) && !options_.verbose) return;
    progress.clear();
    if (!isFailure(result.status)) {
      fmt::print("{} {} on {} {}\n", nameOf(result.status), result.id, result.backend, result.reason);
      return;
    }
    if (++shown_[{result.op, result.backend}] > kBlocksPerOperator) return;
    const bool isError = result.id.starts_with("error:");
    fmt::print(
        "{}",
        failureBlock(result,
                     isError ? fmt::format("op-harness check --backend {} --op {}", result.backend, result.op)
                             : fmt::format("op-harness check --backend {} --case '{}'", result.backend, result.id)));
  }

  int finish() {
    for (const auto& [key, number] : shown_)
      if (number > kBlocksPerOperator)
        fmt::print("{} more failures of {} on {}; --op, --filter and --json show them\n", number - kBlocksPerOperator,
                   key.first, key.second);
    Table table({"operator", "backend", "pass", "fail", "unsupported", "margin", "time", "kernels"});
    for (const auto& [key, tally] : tallies_) {
      size_t failed = 0, pass = 0, unsupported = 0;
      for (const auto& [status, number] : tally.count)
        (isFailure(status) ? failed : status == CaseStatus::Pass ? pass : unsupported) += number;
      table.add({key.first, key.second, std::to_string(pass), std::to_string(failed), std::to_string(unsupported),
                 formatNumber(tally.worstMargin), cli::formatNs(tally.durationNs),
                 fmt::format("{}", fmt::join(tally.providers, ","))});
    }
    fmt::print("{}", table.toString());
    file_.writeSummary();
    bool failed = !printTotals();
    for (const Checker& checker : checkers_) {
      fmt::print("{}: {} dispatches\n", checker.backend(), checker.dispatches());
      // A lane on which nothing ran has shown nothing, whatever its cases say.
      if (checker.dispatches() > 0 || onlyErrors()) continue;
      fmt::print("{}: fail: nothing was dispatched on {}\n", checker.backend(), checker.device().name);
      failed = true;
    }
    if (const uint64_t messages = validationMessages(); messages > 0) {
      fmt::print("fail: {} messages of the Vulkan validation layers\n", messages);
      failed = true;
    }
    if (executed_ == 0) {
      fmt::print(stderr, "op-harness: no case was executed; see `op-harness list`\n");
      return cli::kNothingRan;
    }
    return failed ? cli::kCheckFailed : cli::kSuccess;
  }

  /// True when no case with outputs was executed, so that no dispatch is to be expected.
  bool onlyErrors() const {
    return std::all_of(tallies_.begin(), tallies_.end(), [](const auto& entry) {
      return entry.second.providers.empty() || entry.second.providers == std::set<std::string>{"folded"};
    });
  }

  bool printTotals() {
    size_t failures = 0;
    std::string text;
    for (const auto& [status, number] : total_) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", number, nameOf(status));
      if (isFailure(status)) failures += number;
      if (isExecuted(status)) executed_ += number;
    }
    const CaseStatus overall = failures ? CaseStatus::Fail : CaseStatus::Pass;
    fmt::print("{}: {}\n", coloured(overall, failures ? "FAIL" : "ok"), text.empty() ? "no cases" : text);
    return failures == 0;
  }

  const Options& options_;
  const OpRegistry& registry_;
  ResultFile file_;
  std::vector<Checker> checkers_;
  std::map<std::pair<std::string, std::string>, Tally> tallies_;
  std::map<std::pair<std::string, std::string>, size_t> shown_;  // failure blocks per operator and backend
  std::map<CaseStatus, size_t> total_;
  size_t executed_ = 0;
};

}  // namespace

void addCheckCommand(CLI::App& app, CommandContext& context) {
  CLI::App* command = app.add_subcommand("check", "Compare every operator with its oracle on every backend");
  auto options = std::make_shared<Options>();
  options->backend.backends = {"cpu", "vulkan"};
  options->backend.add(*command, "cpu,vulkan");
  options->cases.add(*command);
  command->add_option("--json", options->json, "Append results as JSON lines (reports/schema.md)");
  command->add_flag("--verbose", options->verbose, "One line per case");
  command->footer(
      "Examples:\n"
      "  op-harness check --backend cpu,vulkan\n"
      "  op-harness check --op Softmax --backend vulkan --validation core\n"
      "  op-harness check --case 'Softmax{\"axis\":0}/f32[3,5,7]/normal/seed=7'");
  command->callback([options, &context] {
    context.run = [options, &context] { return CheckRun(*options, ops::builtinOps()).run(context.commandLine); };
  });
}

}  // namespace opkit::harness
