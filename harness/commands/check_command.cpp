#include <limits>
#include <map>
#include <numeric>
#include <thread>

#include "engine/base/child_process.h"
#include "engine/base/clock.h"
#include "engine/base/interrupt.h"
#include "engine/base/printable.h"
#include "engine/model/model.h"
#include "engine/tools/driver.h"
#include "harness/cases/accept.h"
#include "harness/cases/case_rules.h"
#include "harness/cases/costs.h"
#include "harness/cases/features.h"
#include "harness/check/placement_check.h"
#include "harness/check/shrink.h"
#include "harness/commands/check_account.h"
#include "harness/commands/check_evidence.h"
#include "harness/commands/check_guest.h"
#include "harness/commands/check_hangs.h"
#include "harness/commands/check_job.h"
#include "harness/commands/check_options.h"
#include "harness/commands/check_rerun.h"
#include "harness/commands/check_sample.h"
#include "harness/commands/check_time.h"
#include "harness/commands/check_totals.h"
#include "harness/commands/day_cases.h"
#include "harness/commands/debug_case.h"
#include "harness/commands/expectation_options.h"
#include "harness/commands/margin_rows.h"
#include "harness/commands/oracle_option.h"
#include "harness/commands/second_opinion.h"
#include "harness/export/capsule_folder.h"
#include "harness/run/build_facts.h"
#include "harness/run/failure_causes.h"
#include "harness/run/isolated_jobs.h"
#include "harness/run/reports.h"
#include "harness/run/terminal.h"

namespace opkit::harness {
namespace {

// Blocks printed per operator and backend, one of each cause; the JSON lines hold every failure.
constexpr size_t kBlocksPerOperator = 5;
constexpr size_t kMostCauses = 12;  // operators in the summary of causes
// A worker keeps pipelines, compiled shaders and packed weights of what it checked.
constexpr size_t kLargestWorker = size_t{640} << 20;
// Failing groups that run again, unless their failures are written as expectations.
constexpr size_t kMostReruns = 50;

/// A run that names operators, cases or a part of the cases has none by default.
std::optional<DayBudget> budgetOf(const CheckArguments& options, const OpRegistry& registry) {
  const CaseOptions& asked = options.cases;
  const bool isPart = !asked.ops.empty() || !asked.filter.empty() || !asked.id.empty() || !asked.casesFile.empty() ||
                      asked.fuzz > 0 || !asked.reach || options.sample || !options.shard.isWhole() || options.brief ||
                      !options.backend.sanitize.empty();
  if (options.budget == "none" || (options.budget.empty() && isPart)) return std::nullopt;
  return dayBudget(options.budget, options.day, registry);
}

class CheckRun {
 public:
  CheckRun(const CheckArguments& options, const OpRegistry& registry)
      : options_(options), registry_(registry), budget_(budgetOf(options, registry)), time_(budget_, options.jobs) {}

  Result<int> run(const std::string& commandLine) {
    OPKIT_TRY(checkOracle(options_.backend.oracle, options_.cases));
    OPKIT_ASSIGN(const std::vector<DescribedDevice> devices, describeDevices(options_.backend));
    OPKIT_ASSIGN(expectations_, options_.expectations.read(devices));
    OPKIT_ASSIGN(writer_, options_.expectations.openWriter(devices));
    OPKIT_ASSIGN(margins_, MarginRows::read(options_.backend.margins));
    for (const DescribedDevice& device : devices) devices_.push_back(device.info);
    OPKIT_TRY(startEvidence(devices));
    OPKIT_ASSIGN(catalogue_, loadCasesOf(options_.cases, budget_, registry_));
    OPKIT_ASSIGN(std::vector<CheckUnit> units, allUnits());
    options_.shard.keepMine(units);
    hangs_.emplace(newJob(), limits());
    reruns_.emplace(newJob(), limits(), writer_ ? std::numeric_limits<size_t>::max() : kMostReruns);
    if (interrupted()) return cli::kSuccess;  // nothing was started
    if (hasEstimate()) {
      const auto seconds = estimatedCoreSeconds(units, catalogue_, registry_, options_.backend.backends);
      time_.estimate(std::accumulate(seconds.begin(), seconds.end(), 0.0));
    }
    OPKIT_TRY(file_.open(options_.json, commandLine, options_.cases.seed.value_or(kDefaultSeed), planOf(units)));
    for (const DescribedDevice& device : devices) {
      printDevice(device.info);
      if (!device.lacks.empty()) {
        lesser_.insert(device.info.backend);
        fmt::print("{} lacks {}: neither its refusals nor kernels that never ran are judged\n", device.info.backend,
                   device.lacks);
      }
      file_.write(device.info, device.profile);
    }
    for (const std::string& note : expectations_.notes()) fmt::print("{}\n", note);
    for (const std::string& note : catalogue_.notes) fmt::print("{}\n", note);
    isOld_ = noteOldBuild();
    if (options_.shard.index == 1) recordBrokenRules();
    time_.beginCases();
    OPKIT_TRY(runUnits(units));
    OPKIT_TRY(file_.status());
    if (!options_.saveFolder.empty()) OPKIT_TRY(saveCapsules());
    OPKIT_ASSIGN(const int code, finish());
    if (!evidence_) return code;
    evidence_->close(registry_, plugins().plugins(), missing());
    return concludeEvidence(options_.evidence, *evidence_, code);
  }

 private:
  Status startEvidence(const std::vector<DescribedDevice>& devices) {
    if (!options_.evidence.wanted()) return Status::ok();
    if (budget_ && !budget_->edited.empty())
      return Status::invalidArgument(
          "--evidence: the cases of a day depend on the files that you edit; name operators with --op");
    OPKIT_ASSIGN(evidence_,
                 harness::startEvidence(*options_.command, budget_ ? std::optional(budget_->day) : std::nullopt));
    for (const DescribedDevice& device : devices) evidence_->add(device.info);
    return Status::ok();
  }

  /// How the run was cut short; empty if it was not.
  std::string missing() const {
    if (unitsDone_ >= unitsTotal_ && !interrupted()) return "";
    return fmt::format("{}: {} of {} groups were checked", interrupted() ? "interrupted" : "cut by the clock",
                       unitsDone_, unitsTotal_);
  }

  CheckJob newJob() const { return {registry_, catalogue_, options_.backend, &expectations_, &margins_.recorded()}; }

  Result<std::vector<CheckUnit>> allUnits() {
    if (options_.sample) return sampleUnits(catalogue_, registry_, options_.backend, limits());
    std::vector<CheckUnit> units;
    if (budget_) {
      day_ = daySet(catalogue_, registry_, *budget_);
      for (const size_t group : day_->groups)
        options_.brief ? units.push_back({.group = group, .brief = true}) : addUnits(group, units);
      for (const size_t group : day_->brief) units.push_back({.group = group, .brief = true});
    } else if (options_.brief) {
      for (size_t i = 0; i < catalogue_.groups.size(); ++i) units.push_back({.group = i, .brief = true});
    } else {
      for (size_t i = 0; i < catalogue_.groups.size(); ++i) addUnits(i, units);
    }
    addSmallUnits(catalogue_, units);
    if (options_.inTurns) takeTurns(units);
    if (!options_.cases.ops.empty()) orderForFailures(units, catalogue_, registry_, options_.backend.backends);
    return units;
  }

  /// The first unit of each operator, then the second of each, and so on.
  void takeTurns(std::vector<CheckUnit>& units) const {
    std::map<std::string, size_t> seen;
    std::vector<std::pair<size_t, CheckUnit>> numbered;
    for (CheckUnit& unit : units) numbered.emplace_back(seen[labelOf(unit)]++, std::move(unit));
    std::ranges::stable_sort(numbered, {}, &std::pair<size_t, CheckUnit>::first);
    for (size_t i = 0; i < units.size(); ++i) units[i] = std::move(numbered[i].second);
  }

  /// Tracing shaders, validation layers and scripts take times of their own.
  bool hasEstimate() const {
    const BackendOptions& backend = options_.backend;
    return backend.sanitize.empty() && backend.oracle.path.empty() && backend.validation == Validation::Off;
  }

  /// By the estimate, which holds for the build that is measured. Other builds and modes have the longest limit.
  double limitOf(const CheckUnit& unit) const {
    const bool isMeasured = hasEstimate() && std::string_view(kBuildFacts.buildType) == "Release";
    if (options_.hasTimeout || !isMeasured) return options_.timeoutSeconds;
    return hangSeconds(unit, catalogue_, registry_, options_.backend.backends, options_.timeoutSeconds);
  }

  /// A long draw is brief on the backends on which it is long, and a pair of features unless all is asked for.
  void addUnits(size_t group, std::vector<CheckUnit>& units) const {
    const Case& c = catalogue_.groups[group].cases.front();
    const OpDef* const def = registry_.find(c.op);
    if (isDrawnPair(c) && options_.budget != "none") return units.push_back({.group = group, .brief = true});
    if (!c.anyFallback || !def || estimatedSeconds(c, *def) <= kLongDraw) {
      units.push_back({.group = group});
      return;
    }
    for (const std::string& backend : options_.backend.backends) {
      const bool isLong = CaseCosts::builtin().seconds(c.op, workOf(c, *def), backend) > kLongDraw;
      units.push_back({.group = group, .backend = backend, .brief = isLong});
    }
  }

  /// One line per case, or per error case, and backend.
  RunPlan planOf(const std::vector<CheckUnit>& units) const {
    RunPlan planned;
    for (const std::string& backend : options_.backend.backends)
      for (const CheckUnit& unit : units)
        if (!unit.backend || *unit.backend == backend)
          planned[backend] += !unit.isGroup() || unit.only ? 1 : catalogue_.groups[unit.group].cases.size();
    return planned;
  }

  /// Results are recorded in the order of the units, in whatever order workers finish. Crashed units are split and run
  /// again.
  Status runUnits(const std::vector<CheckUnit>& units) {
    std::vector<CheckUnit> broken;
    OPKIT_TRY(runIsolatedUnits(units, [&](size_t i, const JobOutcome& outcome) {
      JobOutcome last = outcome;
      if (isLateOnly(units[i], last)) return;
      if (!units[i].isGroup() || units[i].only)
        recordCrash(units[i], last, "");
      else if (last.kind == JobOutcome::Kind::TimedOut && hangs_->areMany(labelOf(units[i])))
        recordCrash(units[i], last, " (not looked into, as three groups of the operator hung before)");
      else
        addSingles(units[i], last, broken);
    }));
    bool reproduced = false;
    OPKIT_TRY(runIsolatedUnits(broken, [&](size_t i, const JobOutcome& outcome) {
      recordCrash(broken[i], outcome, "");  // its group ended too: the second time
      reproduced = true;
    }));
    if (!broken.empty() && !reproduced)
      for (const auto& [unit, outcome] : crashed_)
        recordCrash(unit, outcome,
                    interrupted() ? "; which of the group's cases it was was not found out"
                                  : " on the walk through the group's shapes");
    return Status::ok();
  }

  /// True if a unit that was late is no hang: it answered with more time, and its results are recorded, or the run was
  /// interrupted meanwhile.
  bool isLateOnly(const CheckUnit& unit, JobOutcome& outcome) {
    const double seconds = limitOf(unit);
    if (outcome.kind != JobOutcome::Kind::TimedOut || seconds >= options_.timeoutSeconds) return false;
    const auto reports = hangs_->runAgain(unit, labelOf(unit), seconds, outcome);
    if (!reports || !*reports) return interrupted();  // before the second run ended: nothing is known
    recordAll(unit, **reports);
    return true;
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
        recordOwn(result);
      }
  }

  void addSingles(const CheckUnit& unit, const JobOutcome& outcome, std::vector<CheckUnit>& broken) {
    crashed_.emplace_back(unit, outcome);
    for (const std::string& backend : options_.backend.backends)
      for (size_t i = 0; i < catalogue_.groups[unit.group].cases.size(); ++i)
        if (!unit.backend || *unit.backend == backend)
          broken.push_back({.group = unit.group, .only = i, .backend = backend, .brief = unit.brief});
  }

  Status runIsolatedUnits(const std::vector<CheckUnit>& units,
                          const std::function<void(size_t, const JobOutcome&)>& onCrash) {
    CheckJob job = newJob();
    unitsTotal_ += units.size();
    std::vector<std::optional<JobOutcome>> finished(units.size());
    size_t next = 0;
    Progress progress(units.size(), "groups");
    IsolationLimits each = limits();
    each.timeoutOf = [&](size_t i) { return limitOf(units[i]); };
    const auto take = [&](size_t i) {
      progress.clear();
      if (finished[i]->kind == JobOutcome::Kind::Answered)
        recordAll(units[i], JobReports::fromText(finished[i]->answer));
      else
        onCrash(i, *finished[i]);
      finished[i]->answer.clear();
      ++unitsDone_;
    };
    OPKIT_TRY(runIsolated(
        units.size(), each, [&](size_t i) { return job.run(units[i]).toText(); },
        [&](size_t i, const JobOutcome& outcome) {
          finished[i] = outcome;
          progress.step(labelOf(units[i]));
          for (; next < units.size() && finished[next]; ++next) take(next);
        }));
    for (; next < units.size(); ++next)  // after an interrupt: units finished out of order are kept too
      if (finished[next]) take(next);
    return Status::ok();
  }

  IsolationLimits limits() {
    return {.workers = options_.jobs,
            .timeoutSeconds = options_.timeoutSeconds,
            .memoryBytes = options_.memoryMiB << 20,
            .replaceBytes = kLargestWorker,
            .stop = [this] { return !file_.status().isOk() || time_.isCut(); }};
  }

  std::string labelOf(const CheckUnit& unit) const { return caseOf(unit, catalogue_).first.op; }

  void recordAll(const CheckUnit& unit, JobReports job) {
    time_.addResult(job);
    dispatches_ += job.dispatches;
    const bool partial = unit.only.has_value();  // the rest of its group crashed
    std::vector<JobReport*> failed;
    for (JobReport& report : job.reports) {
      expectations_.judge(report.record, partial);
      if (isUnexpectedFailure(report.record)) failed.push_back(&report);
    }
    runAgain(unit, failed);
    for (JobReport& report : job.reports)
      record(std::move(report.record), std::move(report.block), report.variantKernels);
  }

  static bool isUnexpectedFailure(const CaseRecord& one) {
    return isFailure(one.status) && one.status != CaseStatus::Unexpected;
  }

  /// Notes what the failed cases of a unit give in a fresh worker.
  void runAgain(const CheckUnit& unit, const std::vector<JobReport*>& failed) {
    if (failed.empty() || failed.front()->record.id.empty()) return;  // no backend could be opened
    CheckUnit again = unit;
    const std::string& backend = failed.front()->record.backend;
    if (std::ranges::all_of(failed, [&](const JobReport* one) { return one->record.backend == backend; }))
      again.backend = backend;
    const double begunNs = nowNs();
    const auto rerun = reruns_->run(again);
    time_.addRerun((nowNs() - begunNs) * 1e-9);
    if (!rerun || !*rerun) return;
    for (JobReport* one : failed)
      if ((one->record.rerun = (*rerun)->of(one->record))) one->block += rerunText(*one->record.rerun);
  }

  void recordCrash(const CheckUnit& unit, const JobOutcome& outcome, const std::string& where) {
    const auto [c, id] = caseOf(unit, catalogue_);
    CaseResult result;
    result.kind = "check";
    result.id = id;
    result.name = c.name;
    result.op = c.op;
    result.backend = unit.backend.value_or(options_.backend.backends.front());
    const bool hang = outcome.kind == JobOutcome::Kind::TimedOut;
    result.status = hang ? CaseStatus::Hang : CaseStatus::Crash;
    result.reason = lossText(outcome, limitOf(unit)) + where;
    result.repro = repeatCommand(options_.backend, result.backend, result.id, result.op);
    JobReport report{toRecord(result), failureBlock(result, result.repro)};
    expectations_.judge(report.record);
    if (unit.only && isUnexpectedFailure(report.record)) {
      report.record.rerun = result.status;  // the first time was with its group
      report.block += rerunText(result.status);
    } else if (isUnexpectedFailure(report.record)) {
      runAgain(unit, {&report});
    }
    record(std::move(report.record), std::move(report.block));
  }

  /// A result that no worker gave.
  void recordOwn(const CaseResult& result) {
    CaseRecord one = toRecord(result);
    expectations_.judge(one);
    record(std::move(one), failureBlock(result, result.repro));
  }

  void record(CaseRecord one, std::string block, const std::set<std::string>& variantKernels = {}) {
    CheckTally& tally = totals_.tallyOf(one);
    const bool failed = isUnexpectedFailure(one);
    const bool isShown = failed && causes_.add(one) && tally.blocks < kBlocksPerOperator;
    if (isShown) addOpinion(one, block);
    if (one.status == CaseStatus::Pass) causes_.addPass(one);
    file_.write(one);
    noteDuration(one);
    account_.add(one);
    margins_.add(one);
    totals_.add(one, variantKernels);
    if (writer_) writer_->add(one);
    if (evidence_) evidence_->add(one);
    if (!options_.junit.empty()) {
      records_.push_back(one);
      blocks_.push_back(block);
    }
    if (failed) {
      ++tally.failures;
      tally.blocks += isShown;
      if (isShown) fmt::print("{}", block);
      std::fflush(stdout);  // as it comes, also into a pipe
      if (one.rerun != CaseStatus::Pass && tally.lasting++ == 0) firstFailures_.push_back(one);
    } else if (options_.verbose) {
      printRecord(one);
    }
    const bool isOfAnOperator = one.status != CaseStatus::Unexpected || !one.op.empty();
    if (options_.annotations && isFailure(one.status) && isOfAnOperator)
      fmt::print("{}", githubAnnotation(one, folderOf(one.op)));
  }

  void noteDuration(const CaseRecord& one) {
    if (options_.slowest == 0) return;
    slowest_.emplace(one.durationNs, fmt::format("{} on {}", one.id, one.backend));
    if (slowest_.size() > options_.slowest) slowest_.erase(slowest_.begin());
  }

  void printSlowest() const {
    if (slowest_.empty()) return;
    fmt::print("slowest:\n");
    for (auto one = slowest_.rbegin(); one != slowest_.rend(); ++one)
      fmt::print("  {:>9}  {}\n", cli::formatNs(one->first), one->second);
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

  /// The group of a case, without those that an expectation file leaves out on the backend; everything if the case is
  /// in no group.
  Catalogue withoutSkips(const std::string& id, const std::string& backend) const {
    const auto hasId = [&](const Case& c) { return c.id() == id; };
    for (const CaseGroup& each : catalogue_.groups) {
      if (std::ranges::none_of(each.cases, hasId)) continue;
      CaseGroup group = each;
      std::erase_if(group.cases, [&](const Case& c) { return expectations_.skipOf("check", c.id(), backend); });
      return {.groups = {std::move(group)}};
    }
    return catalogue_;
  }

  /// Shrinks the first failure of each operator and backend.
  Status saveCapsules() {
    for (const CaseRecord& first : firstFailures_) {
      const std::string &id = first.id, &backend = first.backend;
      if (id.starts_with("error:") || id.starts_with("shapes:") || interrupted()) continue;
      auto shrunk = shrinkToFile(withoutSkips(id, backend), id, backend, options_.backend.runtimeOptions(backend),
                                 registry_, options_.saveFolder);
      if (interrupted() && !shrunk) continue;  // it was not run again, so its result is unknown
      OPKIT_ASSIGN(const CapsuleFile saved, std::move(shrunk));
      fmt::print("capsule  {} ({} to {} elements after {} trials): {}\n", saved.path, saved.elementsBefore,
                 saved.elementsAfter, saved.trials, saved.id);
      printFolder(writeCapsuleFolder(saved.path, saved.group, registry_, plugins().onnxRules()), saved.group);
    }
    return Status::ok();
  }

  /// The model beside a capsule.
  static void printFolder(const CapsuleFolder& folder, const CaseGroup& capsule) {
    if (folder.path.empty())
      fmt::print("model    none: {}\n", printable(folder.reason));
    else if (folder.cases < capsule.cases.size())
      fmt::print("model    {} ({} of {} cases)\n", folder.path, folder.cases, capsule.cases.size());
    else
      fmt::print("model    {}\n", folder.path);
  }

  /// A kernel of ours that none of an operator's cases ran, although all were asked for; on Vulkan in any device class.
  void recordKernelsThatNeverRan() {
    const CaseOptions& asked = options_.cases;
    if (!asked.casesFile.empty() || !asked.id.empty() || !asked.filter.empty() || !options_.shard.isWhole()) return;
    if (interrupted() || !options_.backend.simd.empty() || (day_ && day_->days > 1)) return;
    for (const std::string& backend : options_.backend.backends) {
      if (lesser_.contains(backend) || (backend == "vulkan" && options_.brief)) continue;
      for (const CaseResult& result : neverRan(totals_, registry_, backend)) recordOwn(result);
    }
  }

  /// True if the run has every written case of its operators, on devices as they are.
  bool hasAllWritten() const {
    const CaseOptions& asked = options_.cases;
    const bool isNarrowed = !asked.casesFile.empty() || !asked.id.empty() || !asked.filter.empty() || asked.seed ||
                            !options_.shard.isWhole() || options_.sample || (day_ && day_->days > 1);
    const bool isOther = !options_.backend.oracle.path.empty() || !plugins().plugins().empty() || cli::hasVectorWidth();
    return !isNarrowed && !isOther && !interrupted() && unitsDone_ == unitsTotal_;
  }

  /// Operators with failures say enough: some of their cases reached no margin.
  void recordUnmetMargins() {
    if (!hasAllWritten()) return;
    for (const DeviceInfo& device : devices_)
      for (const OpDef* def : registry_.all()) {
        const CheckTally* const tally = totals_.find(def->type, device.backend);
        if (!tally || lesser_.contains(device.backend)) continue;
        const auto isEnough = [&](CaseStatus status) { return tally->count.contains(status); };
        if (std::ranges::any_of(std::array{CaseStatus::Skip, CaseStatus::Fail, CaseStatus::Crash, CaseStatus::Hang},
                                isEnough))
          continue;
        for (CaseRecord& one : margins_.unmet(def->type, device)) {
          staleLines_.push_back(one.reason);
          record(std::move(one), "");
        }
      }
  }

  /// Not with options that `margins` refuses.
  void printMarginHints() const {
    if (!plugins().plugins().empty() || cli::hasVectorWidth()) return;
    for (const DeviceInfo& device : devices_) {
      const BackendOptions& asked = options_.backend;
      std::string options;
      if (device.backend == "cpu" && !asked.simd.empty()) options += " --simd " + asked.simd;
      if (device.backend == "vulkan" && !asked.device.empty()) options += " --device " + shellQuoted(asked.device);
      if (device.backend == "vulkan" && !cli::driverOptions().empty()) options += " " + cli::driverOptions();
      if (const std::string hint = margins_.recordHint(device, options); !hint.empty()) fmt::print("{}\n", hint);
    }
  }

  Result<int> finish() {
    recordKernelsThatNeverRan();
    recordUnmetMargins();
    recordStaleLines();
    for (const auto& [key, tally] : totals_.tallies())
      if (tally.failures > tally.blocks)
        fmt::print("{} more failures like these of {} on {}; --json has them all\n", tally.failures - tally.blocks,
                   key.first, key.second);
    totals_.printTable();
    if (options_.subChecks) account_.printSubChecks();
    account_.addTo(file_.summary());
    file_.summary().part = options_.shard.toString();
    if (day_) file_.summary().part += (options_.shard.isWhole() ? "" : " of ") + day_->toString(*budget_);
    OPKIT_TRY(file_.close());
    const std::string missing = this->missing();
    if (!options_.junit.empty()) {
      const std::string xml = junitXml(records_, blocks_, missing);
      OPKIT_TRY(
          writeFile(options_.junit, {reinterpret_cast<const uint8_t*>(xml.data()), xml.size()}).withContext("--junit"));
    }
    printExpectations();
    printMarginHints();
    fmt::print("{}", causes_.summary(kMostCauses, registry_));
    if (writer_ && !interrupted()) OPKIT_TRY(printWritten(*writer_));
    totals_.print(isOld_);
    bool failed = totals_.failures() > 0;
    account_.printSummary();
    printSlowest();
    fmt::print("{} dispatches\n", dispatches_);
    if (day_) fmt::print("{}\n", day_->toString(*budget_));
    fmt::print("{}\n", time_.toString());
    if (!missing.empty()) {
      fmt::print("{}; their results are above{}\n", missing, options_.json.empty() ? "" : " and in " + options_.json);
      // runProgram replaces it by the signal's code
      return interrupted() || failed ? cli::kCheckFailed : cli::kNothingRan;
    }
    // Backends on which nothing ran have proved nothing, whatever their cases say.
    if (dispatches_ == 0 && !totals_.onlyErrors()) {
      fmt::print("fail: nothing was dispatched\n");
      failed = true;
    }
    if (totals_.executed() == 0) {
      return nothingRan(totals_.none() ? "no case was selected; see `op-harness list`"
                        : totals_.has(CaseStatus::Unproved)
                            ? "every kernel is the oracle itself, so nothing is compared"
                        : totals_.has(CaseStatus::Skip) ? "expectation files leave out these cases"
                                                        : "no backend runs these cases");
    }
    return failed ? cli::kCheckFailed : cli::kSuccess;
  }

  /// True if the run has every case that a line of an expectation file may be for.
  bool isWhole() const {
    const CaseOptions& asked = options_.cases;
    return asked.ops.empty() && asked.filter.empty() && asked.id.empty() && asked.casesFile.empty() && !asked.seed &&
           asked.reach && options_.shard.isWhole() && !options_.sample && !day_;
  }

  void recordStaleLines() {
    if (!isWhole() || interrupted()) return;
    for (CaseRecord& one : expectations_.staleLines("check")) {
      staleLines_.push_back(one.reason);
      record(std::move(one), "");
    }
  }

  void printExpectations() const {
    for (const std::string& text : expectations_.unexpectedPasses()) fmt::print("{}\n", text);
    for (const std::string& text : staleLines_) fmt::print("{}\n", text);
    if (reruns_->refused() > 0)
      fmt::print("{} more groups with failures were not run again; the first {} were\n", reruns_->refused(),
                 kMostReruns);
  }

  const CheckArguments& options_;
  const OpRegistry& registry_;
  const std::optional<DayBudget> budget_;
  CheckTime time_;
  std::optional<DaySet> day_;
  std::multimap<double, std::string> slowest_;  // by nanoseconds
  Catalogue catalogue_;
  ResultFile file_;
  CheckAccount account_;
  Expectations expectations_;
  MarginRows margins_;
  std::vector<DeviceInfo> devices_;
  std::optional<ExpectationWriter> writer_;
  std::optional<CheckEvidence> evidence_;
  std::optional<Reruns> reruns_;  // once the cases are known
  std::optional<Hangs> hangs_;
  CheckTotals totals_;
  FailureCauses causes_;
  std::set<std::string> lesser_;  // backends of devices that do not run all kernels
  std::vector<std::string> staleLines_;
  std::vector<std::pair<CheckUnit, JobOutcome>> crashed_;
  std::vector<CaseRecord> firstFailures_;
  std::vector<CaseRecord> records_;  // for JUnit
  std::vector<std::string> blocks_;
  size_t unitsDone_ = 0, unitsTotal_ = 0;
  uint64_t dispatches_ = 0;
  bool isOld_ = false;  // the sources in the tree differ from those of this program
};

Result<int> debug(const CheckArguments& options, const OpRegistry& registry) {
  if (!options.json.empty() || !options.junit.empty() || !options.saveFolder.empty() || options.evidence.wanted())
    return Status::invalidArgument("--debug writes no results: leave out --json, --junit, --save and --evidence");
  CaseOptions asked = options.cases;
  asked.reach = false;
  OPKIT_ASSIGN(Catalogue catalogue, loadCases(asked, registry));
  if (!asked.id.empty())
    catalogue.groups.at(0).cases.erase(catalogue.groups[0].cases.begin() + 1, catalogue.groups[0].cases.end());
  noteOldBuild();
  return debugCase(catalogue, registry, options.backend, {.folder = options.debugFolder, .brief = options.brief});
}

}  // namespace

void addCheckCommand(CLI::App& app, CommandContext& context) {
  CLI::App* command = app.add_subcommand("check", "Compare every operator with its oracle on every backend");
  auto options = std::make_shared<CheckArguments>();
  CLI::Option* const timeout = addCheckOptions(*command, options);
  command->callback([options, timeout, &context] {
    options->hasTimeout = timeout->count() > 0;
    context.run = [options, &context]() -> Result<int> {
      if (const char* actions = std::getenv("GITHUB_ACTIONS")) options->annotations |= std::string(actions) == "true";
      if (options->guest.choice.isGiven()) {
        OPKIT_TRY(options->guest.check());
        return checkGuest(*options, context.commandLine);
      }
      if (!options->evidence.verify.empty() && !options->evidence.isRepeated)
        return repeatEvidence(*options->command, options->evidence);
      if (!options->debugFolder.empty()) return debug(*options, plugins().registry());
      if (!options->storeFile.empty() && options->evidence.wanted())
        return Status::invalidArgument("--store checks nothing: leave out --evidence");
      if (!options->storeFile.empty())
        return storeValues(options->backend.oracle, options->cases, options->storeFile, plugins().registry());
      const GracefulInterrupt graceful;
      return CheckRun(*options, plugins().registry()).run(context.commandLine);
    };
  });
}

}  // namespace opkit::harness
