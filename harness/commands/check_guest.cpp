#include "harness/commands/check_guest.h"

#include <map>
#include <numeric>

#include "engine/base/clock.h"
#include "engine/base/interrupt.h"
#include "engine/base/printable.h"
#include "engine/model/model.h"
#include "harness/commands/check_rerun.h"
#include "harness/commands/chosen_groups.h"
#include "harness/guest/guest_job.h"
#include "harness/guest/guest_logs.h"
#include "harness/guest/guest_save.h"
#include "harness/guest/guest_totals.h"
#include "harness/guest/open_questions.h"
#include "harness/run/closed_output.h"
#include "harness/run/failure_causes.h"
#include "harness/run/reports.h"
#include "harness/run/terminal.h"

namespace opkit::harness {
namespace {

constexpr size_t kBlocksPerOperator = 5;
constexpr size_t kMostCauses = 12, kMostReasons = 12;
constexpr size_t kMostSecondRuns = 200;  // units with failures that run again
constexpr size_t kMostHangs = 3;         // of an operator; further groups that hang are not looked into
constexpr size_t kLargestWorker = size_t{2} << 30;

constexpr double kTimeoutSeconds = 60;  // of a group, without --timeout

class GuestRun {
 public:
  GuestRun(const CheckArguments& options, const OpRegistry& registry)
      : options_(options),
        registry_(registry),
        backend_(options.guest.choice.name()),
        timeoutSeconds_(options.hasTimeout ? options.timeoutSeconds : kTimeoutSeconds) {}

  Result<int> run(const std::string& commandLine) {
    OPKIT_ASSIGN(GuestLogs logs, GuestLogs::create());
    logs_.emplace(std::move(logs));
    OPKIT_ASSIGN(info_, describeGuest(options_.guest.choice));
    if (options_.opset > info_.newestOpset)
      return Status::invalidArgument("--opset: {} {} knows opsets up to {}, got {}", info_.engine, info_.version,
                                     info_.newestOpset, options_.opset);
    const std::vector<DescribedDevice> devices = {{deviceOf(), "", "", ""}};
    OPKIT_ASSIGN(expectations_, options_.expectations.read(devices));
    OPKIT_ASSIGN(writer_, options_.expectations.openWriter(devices));
    const bool isTold = !namesCases();  // else the head would stand before what is wrong with the names
    if (isTold) printHead();
    OPKIT_ASSIGN(std::vector<CaseGroup> groups, chosen().groups(registry_, limits()));
    if (!isTold) printHead();
    begunNs_ = nowNs();
    RunPlan plan;
    for (const CaseGroup& group : groups) plan[backend_] += group.cases.size();
    OPKIT_TRY(file_.open(options_.json, commandLine, options_.cases.seed.value_or(kDefaultSeed), plan));
    file_.write(deviceOf());
    for (const std::string& note : expectations_.notes()) fmt::print("{}\n", note);
    for (CaseGroup& group : groups) recordSkipped(group);
    std::erase_if(groups, [](const CaseGroup& group) { return group.cases.empty(); });
    OPKIT_TRY(runGroups(groups));
    const Status saved = options_.saveFolder.empty() ? Status::ok() : saveFailures(groups);
    OPKIT_ASSIGN(const int code, finish(plan));  // also if a failure cannot be saved
    OPKIT_TRY(saved.withContext("--save"));
    return code;
  }

 private:
  DeviceInfo deviceOf() const {
    return {.backend = backend_,
            .name = fmt::format("{}{}{}", info_.provider, info_.device.empty() ? "" : " on ", info_.device),
            .driver = fmt::format("{} {}", info_.engine, info_.version)};
  }

  /// Which takes no time, while drawing the cases of all operators does.
  bool namesCases() const {
    return !options_.cases.ops.empty() || !options_.cases.id.empty() || !options_.cases.casesFile.empty();
  }

  /// A few of each operator, if nothing else chooses cases.
  GroupChoice chosen() const {
    GroupChoice choice{.cases = options_.cases,
                       .budget = options_.budget == "none" ? "" : options_.budget,
                       .day = options_.day,
                       .sample = options_.sample,
                       .written = !options_.cases.reach,
                       .shard = options_.shard};
    const CaseOptions& asked = options_.cases;
    if (options_.budget.empty() && asked.ops.empty() && asked.filter.empty() && asked.id.empty() &&
        asked.casesFile.empty() && asked.fuzz == 0 && options_.shard.isWhole())
      choice.few = !choice.sample;
    return choice;
  }

  void printHead() const {
    fmt::print("{} {}, {}; opsets up to {}; without fallback\n", info_.engine, info_.version,
               printable(deviceOf().name), info_.newestOpset);
    if (chosen().few) fmt::print("cases: a few of each operator; --op, --sample, --budget or --shard choose others\n");
    std::fflush(stdout);
    fmt::print(
        "questions: {}; not asked of another engine: guards inside its memory, other device classes and kernels, its "
        "counters and allocations\n",
        fmt::join(guestQuestions(), " "));
  }

  IsolationLimits limits() {
    return {.workers = options_.jobs,
            .timeoutSeconds = timeoutSeconds_,
            .memoryBytes = options_.memoryMiB << 20,
            .replaceBytes = kLargestWorker,
            .stop = [this] { return !file_.status().isOk() || !broken_.isOk() || ClosedOutput::isSeen(); }};
  }

  void recordSkipped(CaseGroup& group) {
    std::erase_if(group.cases, [&](const Case& c) {
      if (const Expectation* const open = openQuestion(c.id())) {
        record(resultOf(c, CaseStatus::Skip, "the specification leaves it open: " + open->reason), "");
        return true;
      }
      const Expectation* const line = expectations_.skipOf("check", c.id(), backend_);
      if (!line) return false;
      record(resultOf(c, CaseStatus::Skip, fmt::format("{}: {}", line->where(), line->reason)), "");
      return true;
    });
  }

  CaseRecord resultOf(const Case& c, CaseStatus status, const std::string& reason) const {
    CaseResult result;
    result.kind = "check", result.id = c.id(), result.name = c.name, result.op = c.op;
    result.backend = backend_, result.device = info_.provider;
    result.status = status, result.reason = reason;
    result.repro = repeatGuest(options_.guest.choice, result.id, options_.opset);
    return toRecord(result);
  }

  /// Groups first; those that end their worker again, case by case.
  Status runGroups(const std::vector<CaseGroup>& groups) {
    std::vector<GuestUnit> units, singles;
    std::set<std::string> leaks;  // one question about leaks for each operator
    for (const CaseGroup& group : groups)
      units.push_back({&group, std::nullopt, leaks.insert(group.cases.front().op).second});
    std::vector<std::pair<GuestUnit, JobOutcome>> lost;
    OPKIT_TRY(runUnits(units, [&](const GuestUnit& unit, const JobOutcome& outcome, const std::string& printed) {
      const std::string& op = unit.group->cases.front().op;
      const bool isHang = outcome.kind == JobOutcome::Kind::TimedOut;
      const bool isKnown = isHang && ++hangs_[op] > kMostHangs;
      if (unit.group->cases.size() == 1 || isKnown) return recordLostGroup(unit, outcome, printed);
      lost.emplace_back(unit, outcome);
      for (size_t i = 0; i < unit.group->cases.size(); ++i) singles.push_back({unit.group, i, unit.leak && i == 0});
    }));
    std::set<const CaseGroup*> found;
    OPKIT_TRY(runUnits(singles, [&](const GuestUnit& unit, const JobOutcome& outcome, const std::string& printed) {
      found.insert(unit.group);
      recordLoss(unit, outcome, printed);
    }));
    for (const auto& [unit, outcome] : lost)
      if (!found.contains(unit.group) && !interrupted())
        recordLoss({unit.group, 0, false}, outcome, "", ", in one session of all shapes of its group");
    return Status::ok();
  }

  using OnLoss = std::function<void(const GuestUnit&, const JobOutcome&, const std::string& printed)>;

  /// Records answers in the order of the units.
  Status runUnits(const std::vector<GuestUnit>& units, const OnLoss& onLoss) {
    GuestJob job(options_.guest.choice, registry_, plugins().onnxRules(), options_.opset);
    Progress progress(units.size(), "asked");
    std::vector<std::optional<JobOutcome>> finished(units.size());
    size_t next = 0;
    const auto take = [&](size_t i) {
      progress.clear();
      if (finished[i]->kind == JobOutcome::Kind::Answered)
        recordAll(units[i], GuestReports::fromText(finished[i]->answer));
      else
        onLoss(units[i], *finished[i], logs_->lastLines(i));
      logs_->remove(i);
      finished[i]->answer.clear();
    };
    OPKIT_TRY(runIsolated(
        units.size(), limits(), [&](size_t i) { return job.run(units[i], logs_->of(i)).toText(); },
        [&](size_t i, const JobOutcome& outcome) {
          finished[i] = outcome;
          progress.step(units[i].group->cases.front().op);
          for (; next < units.size() && finished[next]; ++next) take(next);
        }));
    for (; next < units.size(); ++next)  // after an interrupt: what finished out of order is kept
      if (finished[next]) take(next);
    return broken_;
  }

  /// The reports of a unit from a fresh worker; nothing if that one ends too.
  std::optional<GuestReports> runAgain(const GuestUnit& unit, JobOutcome& outcome) {
    if (interrupted() || ClosedOutput::isSeen() || ++reruns_ > kMostSecondRuns) return std::nullopt;
    GuestJob job(options_.guest.choice, registry_, plugins().onnxRules(), options_.opset);
    std::optional<GuestReports> again;
    static_cast<void>(runIsolated(
        1, 1, timeoutSeconds_, [&](size_t) { return job.run(unit, "/dev/null").toText(); },
        [&](size_t, const JobOutcome& second) {
          outcome = second;
          if (second.kind == JobOutcome::Kind::Answered) again = GuestReports::fromText(second.answer);
        }));
    return again;
  }

  void recordAll(const GuestUnit& unit, GuestReports answer) {
    if (!answer.error.empty()) {
      broken_ = Status::invalidArgument("{}", answer.error);
      return;
    }
    const auto isBad = [&](const GuestReports::One& one) { return isFailure(one.record.status); };
    if (std::ranges::any_of(answer.reports, isBad)) compareAgain(unit, answer);
    for (GuestReports::One& one : answer.reports) {
      expectations_.judge(one.record);
      record(std::move(one.record), std::move(one.block));
    }
  }

  /// A failure that does not come again is Unstable.
  void compareAgain(const GuestUnit& unit, GuestReports& answer) {
    JobOutcome outcome;
    const auto again = runAgain(unit, outcome);
    if (!again) return;
    for (GuestReports::One& one : answer.reports) {
      const auto second = std::ranges::find(again->reports, one.record.id,
                                            [](const GuestReports::One& other) { return other.record.id; });
      if (!isFailure(one.record.status) || second == again->reports.end()) continue;
      one.record.rerun = second->record.status;
      if (second->record.status != CaseStatus::Pass) continue;
      one.record.status = CaseStatus::Unstable;
      one.block += "  rerun    passed in a fresh process\n";
    }
  }

  /// Of a group that is not looked into case by case.
  void recordLostGroup(const GuestUnit& unit, const JobOutcome& outcome, const std::string& printed) {
    recordLoss(unit, outcome, printed);
    for (size_t i = 1; i < unit.group->cases.size(); ++i)
      record(resultOf(unit.group->cases[i], CaseStatus::Skip, "its group hangs, as others of the operator do"), "");
  }

  void recordLoss(const GuestUnit& unit, const JobOutcome& outcome, const std::string& printed,
                  const std::string& where = "") {
    const Case& c = unit.group->cases[unit.only.value_or(0)];
    const bool isHang = outcome.kind == JobOutcome::Kind::TimedOut;
    std::string reason = placedLossText(outcome, timeoutSeconds_) + where;
    CaseRecord one = resultOf(c, isHang ? CaseStatus::Hang : CaseStatus::Crash, reason);
    JobOutcome second;
    const auto again = isHang || !where.empty() ? std::nullopt : runAgain(unit, second);
    if (again && !again->reports.empty()) {
      one.rerun = again->reports.front().record.status;
      if (one.rerun == CaseStatus::Pass) one.status = CaseStatus::Unstable;
    }
    std::string block =
        fmt::format("{} {} on {}\n  reason   {}\n{}  repeat   {}\n", coloured(one.status, nameOf(one.status)),
                    printable(one.id), backend_, printable(reason), printed, one.repro);
    if (one.rerun) block += fmt::format("  rerun    {} in a fresh process\n", nameOf(*one.rerun));
    expectations_.judge(one);
    record(std::move(one), std::move(block));
  }

  void record(CaseRecord one, std::string block) {
    const bool failed = isFailure(one.status) && one.status != CaseStatus::Unexpected;
    const bool isShown = failed && causes_.add(one) && blocks_[one.op]++ < kBlocksPerOperator;
    if (one.status == CaseStatus::Pass) causes_.addPass(one);
    file_.write(one);
    totals_.add(one);
    if (writer_) writer_->add(one);
    if (failed && firsts_.insert({one.op, one.status}).second) firstFailures_.push_back(one);
    if (isShown)
      fmt::print("{}", block);
    else if (options_.verbose)
      fmt::print("{} {}{}{}\n", nameOf(one.status), printable(one.id), one.reason.empty() ? "" : " ",
                 printable(one.reason));
    std::fflush(stdout);
    if (options_.annotations && isFailure(one.status)) fmt::print("{}", githubAnnotation(one, folderOf(one.op)));
    if (options_.junit.empty()) return;
    records_.push_back(std::move(one));
    texts_.push_back(std::move(block));
  }

  std::string folderOf(const std::string& op) const {
    const OpDef* const def = registry_.find(op);
    return def ? def->folder : op;
  }

  Status saveFailures(const std::vector<CaseGroup>& groups) {
    for (const CaseRecord& one : firstFailures_) {
      if (interrupted() || ClosedOutput::isSeen()) return Status::ok();
      OPKIT_ASSIGN(const SavedFailure saved, saveGuestFailure({options_.guest.choice, info_, registry_,
                                                               plugins().onnxRules(), options_.opset, timeoutSeconds_},
                                                              groups, one, options_.saveFolder));
      if (saved.path.empty())
        fmt::print("capsule  none of {}: {}\n", printable(one.id), printable(saved.reason));
      else
        fmt::print("capsule  {} ({} to {} elements after {} trials): {}\n", saved.path, saved.elementsBefore,
                   saved.elementsAfter, saved.trials, printable(saved.id));
    }
    return Status::ok();
  }

  Result<int> finish(const RunPlan& plan) {
    fmt::print("{}{}", totals_.table(), totals_.reasons(kMostReasons));
    fmt::print("{}", causes_.summary(kMostCauses, registry_));
    for (const std::string& text : expectations_.unexpectedPasses()) fmt::print("{}\n", text);
    OPKIT_TRY(file_.close());
    const size_t planned = plan.contains(backend_) ? plan.at(backend_) : 0;
    const std::string missing =
        totals_.cases() < planned ? fmt::format("{} of {} cases have a result", totals_.cases(), planned) : "";
    if (!options_.junit.empty()) {
      const std::string xml = junitXml(records_, texts_, missing);
      OPKIT_TRY(
          writeFile(options_.junit, {reinterpret_cast<const uint8_t*>(xml.data()), xml.size()}).withContext("--junit"));
    }
    if (writer_ && !interrupted()) OPKIT_TRY(printWritten(*writer_));
    const double seconds = (nowNs() - begunNs_) * 1e-9;
    fmt::print("{}", totals_.summary());
    fmt::print("{} cases in {:.1f} s, {:.0f} a second\n", totals_.cases(), seconds,
               static_cast<double>(totals_.cases()) / seconds);
    if (!missing.empty()) fmt::print("{}{}\n", interrupted() ? "interrupted: " : "", missing);
    if (totals_.failures() > 0 || !missing.empty()) return cli::kCheckFailed;
    return totals_.executed() == 0 ? nothingRan(whyNothingRan(planned)) : cli::kSuccess;
  }

  std::string whyNothingRan(size_t planned) const {
    if (planned == 0) return "no case was selected; see `op-harness list`";
    if (totals_.has(CaseStatus::Unsupported)) return "none of these cases has a form in ONNX that the provider claims";
    return "the specification or expectation files leave these cases out";
  }

  const CheckArguments& options_;
  const OpRegistry& registry_;
  const std::string backend_;
  const double timeoutSeconds_;
  GuestInfo info_;
  Expectations expectations_;
  std::optional<ExpectationWriter> writer_;
  std::optional<GuestLogs> logs_;
  ResultFile file_;
  GuestTotals totals_;
  FailureCauses causes_;
  std::map<std::string, size_t> blocks_, hangs_;  // by operator
  std::set<std::pair<std::string, CaseStatus>> firsts_;
  std::vector<CaseRecord> firstFailures_;  // of each operator and state
  std::vector<CaseRecord> records_;        // for JUnit
  std::vector<std::string> texts_;
  size_t reruns_ = 0;
  Status broken_;  // what ended the run
  double begunNs_ = 0;
};

}  // namespace

Result<int> checkGuest(const CheckArguments& options, const std::string& commandLine) {
  const ClosedOutput closed;
  const GracefulInterrupt graceful;
  noteOldBuild();
  return GuestRun(options, plugins().registry()).run(commandLine);
}

}  // namespace opkit::harness
