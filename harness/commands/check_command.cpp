#include <set>
#include <thread>

#include "engine/base/interrupt.h"
#include "engine/model/model.h"
#include "harness/cases/case_rules.h"
#include "harness/check/placement_check.h"
#include "harness/check/shrink.h"
#include "harness/commands/check_account.h"
#include "harness/commands/check_job.h"
#include "harness/commands/second_opinion.h"
#include "harness/run/isolated_jobs.h"
#include "harness/run/reports.h"
#include "harness/run/terminal.h"

namespace opkit::harness {
namespace {

// Blocks printed per operator and backend; the JSON lines hold every failure.
constexpr size_t kBlocksPerOperator = 5;

struct CheckArguments {
  BackendOptions backend;
  CaseOptions cases;
  std::string json, junit, saveFolder;
  Shard shard;
  size_t jobs = std::max(1u, std::thread::hardware_concurrency());
  double timeoutSeconds = 120;
  size_t memoryMiB = 8192;
  bool verbose = false;
  bool annotations = false;
  bool subChecks = false;
};

/// The results of one operator on one backend.
struct Tally {
  std::map<CaseStatus, size_t> count;
  double worstMargin = 0;
  double durationNs = 0;
  std::set<std::string> providers;
  std::set<std::string> kernels;  // "provider/kernel"
  size_t blocks = 0;              // failures seen
};

class CheckRun {
 public:
  CheckRun(const CheckArguments& options, const OpRegistry& registry) : options_(options), registry_(registry) {}

  Result<int> run(const std::string& commandLine) {
    OPKIT_ASSIGN(const std::vector<DescribedDevice> devices, describeDevices(options_.backend));
    OPKIT_ASSIGN(catalogue_, loadCases(options_.cases, registry_));
    std::vector<CheckUnit> units;
    for (size_t i = 0; i < catalogue_.groups.size(); ++i) units.push_back({.group = i});
    for (size_t i = 0; i < catalogue_.errors.size(); ++i) units.push_back({.error = i});
    options_.shard.keepMine(units);
    if (interrupted()) return cli::kSuccess;  // nothing was started
    OPKIT_TRY(file_.open(options_.json, commandLine, options_.cases.seed.value_or(kDefaultSeed), planOf(units)));
    for (const DescribedDevice& device : devices) {
      printDevice(device.info);
      file_.write(device.info, device.profile);
    }
    for (const std::string& note : catalogue_.notes) fmt::print("{}\n", note);
    isOld_ = noteOldBuild();
    if (options_.shard.index == 1) recordBrokenRules();
    OPKIT_TRY(runUnits(units));
    OPKIT_TRY(file_.status());
    if (!options_.saveFolder.empty()) OPKIT_TRY(saveCapsules());
    return finish();
  }

 private:
  /// One line per case, or per error case, and backend.
  RunPlan planOf(const std::vector<CheckUnit>& units) const {
    RunPlan planned;
    for (const std::string& backend : options_.backend.backends)
      for (const CheckUnit& unit : units)
        planned[backend] += unit.error ? 1 : catalogue_.groups[unit.group].cases.size();
    return planned;
  }

  /// Results are recorded in the order of the units, in whatever order workers finish. Crashed units are split and run
  /// again.
  Status runUnits(const std::vector<CheckUnit>& units) {
    std::vector<CheckUnit> broken;
    OPKIT_TRY(runIsolatedUnits(units, [&](size_t i, const JobOutcome& outcome) {
      if (units[i].error)
        recordCrash(units[i], outcome, "");
      else
        addSingles(units[i], outcome, broken);
    }));
    bool reproduced = false;
    OPKIT_TRY(runIsolatedUnits(broken, [&](size_t i, const JobOutcome& outcome) {
      recordCrash(broken[i], outcome, "");
      reproduced = true;
    }));
    if (!broken.empty() && !reproduced)
      for (const auto& [unit, outcome] : crashed_)
        recordCrash(unit, outcome,
                    interrupted() ? "; which of the group's cases it was was not found out"
                                  : " on the walk through the group's shapes");
    return Status::ok();
  }

  /// Applies the rules for whole files if whole files were requested.
  void recordBrokenRules() {
    const CaseOptions& asked = options_.cases;
    if (!asked.casesFile.empty() || !asked.id.empty() || !asked.filter.empty()) return;
    for (const EmbeddedFile& file : builtinCaseFiles())
      for (const BrokenRule& rule : brokenCaseRules(file.text)) {
        if (!asked.ops.empty() && std::ranges::find(asked.ops, rule.op) == asked.ops.end()) continue;
        CaseResult result;
        result.kind = "check";
        result.id = fmt::format("{}: {}", file.name, rule.message);
        result.op = rule.op;
        result.backend = options_.backend.backends.front();
        result.status = CaseStatus::Mistrusted;
        result.reason = rule.message + " (harness/cases.md)";
        result.repro = "op-harness check --op " + rule.op;
        record(toRecord(result), failureBlock(result, result.repro));
      }
  }

  void addSingles(const CheckUnit& unit, const JobOutcome& outcome, std::vector<CheckUnit>& broken) {
    crashed_.emplace_back(unit, outcome);
    for (const std::string& backend : options_.backend.backends)
      for (size_t i = 0; i < catalogue_.groups[unit.group].cases.size(); ++i)
        broken.push_back({.group = unit.group, .only = i, .backend = backend});
  }

  Status runIsolatedUnits(const std::vector<CheckUnit>& units,
                          const std::function<void(size_t, const JobOutcome&)>& onCrash) {
    CheckJob job(registry_, catalogue_, options_.backend);
    unitsTotal_ += units.size();
    std::vector<std::optional<JobOutcome>> finished(units.size());
    size_t next = 0;
    Progress progress(units.size());
    const auto take = [&](size_t i) {
      progress.clear();
      if (finished[i]->kind == JobOutcome::Kind::Answered)
        recordAll(JobReports::fromText(finished[i]->answer));
      else
        onCrash(i, *finished[i]);
      finished[i]->answer.clear();
      ++unitsDone_;
    };
    const IsolationLimits limits{options_.jobs, options_.timeoutSeconds, options_.memoryMiB << 20,
                                 [this] { return !file_.status().isOk(); }};
    OPKIT_TRY(runIsolated(
        units.size(), limits, [&](size_t i) { return job.run(units[i]).toText(); },
        [&](size_t i, const JobOutcome& outcome) {
          finished[i] = outcome;
          progress.step(labelOf(units[i]));
          for (; next < units.size() && finished[next]; ++next) take(next);
        }));
    for (; next < units.size(); ++next)  // after an interrupt: units finished out of order are kept too
      if (finished[next]) take(next);
    return Status::ok();
  }

  std::string labelOf(const CheckUnit& unit) const {
    return unit.error ? catalogue_.errors[*unit.error].op : catalogue_.groups[unit.group].cases.front().op;
  }

  void recordAll(const JobReports& job) {
    dispatches_ += job.dispatches;
    for (const JobReport& report : job.reports) record(report.record, report.block);
  }

  void recordCrash(const CheckUnit& unit, const JobOutcome& outcome, const std::string& where) {
    const Case c = unit.error ? catalogue_.errors[*unit.error].asCase()
                              : catalogue_.groups[unit.group].cases[unit.only.value_or(0)];
    CaseResult result;
    result.kind = "check";
    result.id = (unit.error ? "error:" : "") + c.id();
    result.name = c.name;
    result.op = c.op;
    result.backend = unit.backend.value_or(options_.backend.backends.front());
    const bool hang = outcome.kind == JobOutcome::Kind::TimedOut;
    result.status = hang ? CaseStatus::Hang : CaseStatus::Crash;
    result.reason = hang ? fmt::format("no answer within {} s{}", options_.timeoutSeconds, where)
                         : fmt::format("the worker process ended with {}{}", outcome.answer, where);
    record(toRecord(result),
           failureBlock(result, repeatCommand(options_.backend, result.backend, result.id, result.op)));
  }

  void record(CaseRecord one, std::string block) {
    Tally& tally = tallies_[{one.op, one.backend}];
    if (isFailure(one.status) && tally.blocks < kBlocksPerOperator) addOpinion(one, block);
    file_.write(one);
    account_.add(one);
    count(one, tally);
    if (!options_.junit.empty()) {
      records_.push_back(one);
      blocks_.push_back(block);
    }
    if (isFailure(one.status)) {
      if (++tally.blocks <= kBlocksPerOperator) fmt::print("{}", block);
      if (tally.blocks == 1) firstFailures_.push_back(one);
      if (options_.annotations) fmt::print("{}", githubAnnotation(one, folderOf(one.op)));
    } else if (options_.verbose) {
      printRecord(one);
    }
  }

  void count(const CaseRecord& one, Tally& tally) {
    ++tally.count[one.status];
    ++total_[one.status];
    tally.durationNs += one.durationNs;
    for (const std::string& provider : one.departures) ++departures_[provider];
    if (!one.provider.empty()) tally.providers.insert(one.provider);
    tally.kernels.insert(one.provider + "/" + one.kernel);
    if (one.accuracy && one.status == CaseStatus::Pass)
      tally.worstMargin = std::max(tally.worstMargin, one.accuracy->margin);
  }

  /// Says whether the case also fails on the default driver and at the default vector width.
  void addOpinion(CaseRecord& one, std::string& block) const {
    if (!hasSecondOpinion() || interrupted()) return;
    one.opinion = secondOpinion(one, repeatCommand(options_.backend, one.backend, one.id, one.op));
    if (!one.opinion.empty()) block += fmt::format("  opinion  {}\n", one.opinion);
  }

  /// The case, why it did not pass, and the sub-checks that were made.
  static void printRecord(const CaseRecord& one) {
    fmt::print("{} {} on {} {}\n", nameOf(one.status), one.id, one.backend, one.reason);
    if (!one.checks.empty()) fmt::print("  checks   {}\n", fmt::join(one.checks, " "));
    for (const auto& [name, why] : one.notRun) fmt::print("  not run  {}: {}\n", name, why);
  }

  std::string folderOf(const std::string& op) const {
    const OpDef* def = registry_.find(op);
    return def ? def->folder : op;
  }

  /// Shrinks the first failure of each operator and backend.
  Status saveCapsules() {
    for (const CaseRecord& first : firstFailures_) {
      const std::string &id = first.id, &backend = first.backend;
      if (id.starts_with("error:") || interrupted()) continue;
      auto shrunk = shrinkToFile(catalogue_, id, backend, options_.backend.runtimeOptions(backend), registry_,
                                 options_.saveFolder);
      if (interrupted() && !shrunk) continue;  // it was not run again, so its result is unknown
      OPKIT_ASSIGN(const CapsuleFile saved, std::move(shrunk));
      fmt::print("capsule  {} ({} to {} elements after {} trials): {}\n", saved.path, saved.elementsBefore,
                 saved.elementsAfter, saved.trials, saved.id);
    }
    return Status::ok();
  }

  /// A kernel of ours on the CPU that none of an operator's cases ran, although all were asked for. Other backends
  /// choose by device.
  void recordKernelsThatNeverRan() {
    const CaseOptions& asked = options_.cases;
    if (!asked.casesFile.empty() || !asked.id.empty() || !asked.filter.empty() || !options_.shard.isWhole()) return;
    if (interrupted() || !options_.backend.simd.empty()) return;
    for (const OpDef* def : registry_.all()) {
      const auto tally = tallies_.find({def->type, "cpu"});
      if (tally == tallies_.end()) continue;
      const std::set<std::string> ran = tally->second.kernels;  // a copy: recording changes the tally
      for (const Creator& creator : kernelsThatNeverRan(registry_, "cpu", *def, ran)) {
        CaseResult result = {.kind = "check", .id = "kernel:" + creator.kernel, .op = def->type, .backend = "cpu"};
        result.status = CaseStatus::Mistrusted;
        result.reason =
            fmt::format("no case runs the kernel '{}' for {}: it refuses them all, or another one comes first",
                        creator.kernel, creator.dtypes.toString());
        result.repro = "op-harness check --backend cpu --op " + def->type;
        record(toRecord(result), failureBlock(result, result.repro));
      }
    }
  }

  Result<int> finish() {
    recordKernelsThatNeverRan();
    for (const auto& [key, tally] : tallies_)
      if (tally.blocks > kBlocksPerOperator)
        fmt::print("{} more failures of {} on {}; --op, --filter and --json show them\n",
                   tally.blocks - kBlocksPerOperator, key.first, key.second);
    printTable();
    if (options_.subChecks) account_.printSubChecks();
    account_.addTo(file_.summary());
    OPKIT_TRY(file_.close());
    const std::string missing =
        interrupted() ? fmt::format("interrupted: {} of {} groups were checked", unitsDone_, unitsTotal_) : "";
    if (!options_.junit.empty()) {
      const std::string xml = junitXml(records_, blocks_, missing);
      OPKIT_TRY(
          writeFile(options_.junit, {reinterpret_cast<const uint8_t*>(xml.data()), xml.size()}).withContext("--junit"));
    }
    bool failed = !printTotals();
    for (const auto& [provider, count] : departures_)
      fmt::print("{} declared departures of provider {}\n", count, provider);
    account_.printSummary();
    fmt::print("{} dispatches\n", dispatches_);
    if (!missing.empty()) {
      fmt::print("{}; their results are above{}\n", missing, options_.json.empty() ? "" : " and in " + options_.json);
      return cli::kCheckFailed;  // runProgram replaces it by the signal's code
    }
    // Backends on which nothing ran have proved nothing, whatever their cases say.
    if (dispatches_ == 0 && !onlyErrors()) {
      fmt::print("fail: nothing was dispatched\n");
      failed = true;
    }
    if (executed_ == 0) {
      return nothingRan(total_.empty() ? "no case was asked for; see `op-harness list`"
                        : total_.contains(CaseStatus::Unproved)
                            ? "every kernel is the oracle itself, so nothing is compared"
                            : "no backend runs these cases");
    }
    return failed ? cli::kCheckFailed : cli::kSuccess;
  }

  void printTable() const {
    Table table({"operator", "backend", "pass", "fail", "unsupported", "margin", "time", "kernels"});
    for (const auto& [key, tally] : tallies_) {
      size_t failed = 0, pass = 0, unsupported = 0, unproved = 0;
      for (const auto& [status, number] : tally.count)
        (isFailure(status)                ? failed
         : status == CaseStatus::Pass     ? pass
         : status == CaseStatus::Unproved ? unproved
                                          : unsupported) += number;
      const std::string notRun =
          std::to_string(unsupported) + (unproved ? fmt::format(" + {} unproved", unproved) : "");
      table.add({key.first, key.second, std::to_string(pass), std::to_string(failed), notRun,
                 formatNumber(tally.worstMargin), cli::formatNs(tally.durationNs),
                 fmt::format("{}", fmt::join(tally.providers, ","))});
    }
    fmt::print("{}", table.toString());
  }

  /// True if no case with outputs was executed, so that no dispatch is expected.
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
    const CaseStatus overall = failures || executed_ == 0 ? CaseStatus::Fail : CaseStatus::Pass;
    const char* verdict = failures ? "FAIL" : executed_ == 0 ? "nothing executed" : "ok";
    fmt::print("{}: {}{}\n", coloured(overall, verdict), text.empty() ? "no case" : text,
               isOld_ ? " (of an old build, see above)" : "");
    return failures == 0;
  }

  const CheckArguments& options_;
  const OpRegistry& registry_;
  Catalogue catalogue_;
  ResultFile file_;
  CheckAccount account_;
  std::map<std::pair<std::string, std::string>, Tally> tallies_;
  std::map<std::string, size_t> departures_;  // declared and observed, by provider
  std::map<CaseStatus, size_t> total_;
  std::vector<std::pair<CheckUnit, JobOutcome>> crashed_;
  std::vector<CaseRecord> firstFailures_;
  std::vector<CaseRecord> records_;  // for JUnit
  std::vector<std::string> blocks_;
  size_t executed_ = 0;
  size_t unitsDone_ = 0, unitsTotal_ = 0;
  uint64_t dispatches_ = 0;
  bool isOld_ = false;  // the sources in the tree differ from those of this program
};

}  // namespace

void addCheckCommand(CLI::App& app, CommandContext& context) {
  CLI::App* command = app.add_subcommand("check", "Compare every operator with its oracle on every backend");
  auto options = std::make_shared<CheckArguments>();
  options->backend.backends = {"cpu", "vulkan"};
  options->backend.add(*command, "cpu,vulkan");
  options->cases.add(*command);
  options->cases.reach = true;
  command->add_flag_callback(
      "--written", [options] { options->cases.reach = false; },
      "Only the cases of case files, without those that are drawn from them for places where faults hide");
  command->add_option("--fuzz", options->cases.fuzz, "Further cases per operator, drawn from its card by --seed")
      ->check(cli::wholeNumber(0, kMostDrawn));
  command->add_option("--jobs", options->jobs, "Worker processes")
      ->capture_default_str()
      ->check(cli::wholeNumber(1, kMostWorkers));
  addShard(*command, options->shard, "the cases");
  command->add_option("--timeout", options->timeoutSeconds, "Seconds for one group of cases")
      ->capture_default_str()
      ->check(cli::seconds());
  command->add_option("--memory", options->memoryMiB, "Memory that a worker may take in MiB; 0 is unlimited")
      ->check(cli::wholeNumber(0, 1u << 30))
      ->capture_default_str();
  command->add_option("--save", options->saveFolder, "Shrink the first failure per operator and save it here (.opcase)")
      ->check(cli::outputFolder());
  command->add_option("--json", options->json, "Append results as JSON lines (reports/schema.md)")
      ->check(cli::appendedFile());
  command->add_option("--junit", options->junit, "Write a JUnit XML report")->check(cli::outputFile());
  command->add_flag("--annotations", options->annotations, "Print failures as GitHub annotations too");
  command->add_flag("--subchecks", options->subChecks,
                    "Print operator x sub-check: how often it ran, and why it did not");
  command->add_flag("--verbose", options->verbose, "Print each case and its sub-checks");
  command->footer(
      "Examples:\n"
      "  op-harness check --backend cpu,vulkan\n"
      "  op-harness check --op Softmax --backend vulkan --validation core\n"
      "  op-harness check --backend vulkan --mask no-fp16,shared=16k,workgroup=128\n"
      "  op-harness check --op Conv --fuzz 50 --seed 3 --save /tmp/failures\n"
      "  op-harness check --case 'Softmax{\"axis\":0}/f32[3,5,7]/normal/seed=7'");
  command->callback([options, &context] {
    context.run = [options, &context]() -> Result<int> {
      if (const char* actions = std::getenv("GITHUB_ACTIONS")) options->annotations |= std::string(actions) == "true";
      const GracefulInterrupt graceful;
      return CheckRun(*options, plugins().registry()).run(context.commandLine);
    };
  });
}

}  // namespace opkit::harness
