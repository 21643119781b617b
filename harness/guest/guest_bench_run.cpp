#include "harness/guest/guest_bench_run.h"

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "engine/base/json_text.h"
#include "engine/tools/cli.h"
#include "harness/guest/guest_job.h"
#include "harness/guest/guest_logs.h"
#include "harness/run/closed_output.h"
#include "harness/run/worker_note.h"
#include "reports/results/record_json.h"

namespace opkit::harness {
namespace {

using Json = nlohmann::json;

struct Phase {
  const char* name;    // in the table
  const char* figure;  // in the records
};
constexpr std::array kPhases = {Phase{"load", "load"}, Phase{"resize", "resizeFirst"}, Phase{"run", "executeWall"}};

std::string textOf(const Json& answer) { return answer.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::vector<std::string> headingOf(const std::vector<std::string>& sides) {
  std::vector<std::string> heading = {"case", "phase"};
  heading.insert(heading.end(), sides.begin() + 1, sides.end());
  heading.push_back(sides[0]);
  for (size_t i = 1; i < sides.size(); ++i) heading.push_back(fmt::format("{} / {}", sides[0], sides[i]));
  return heading;
}

/// A result for each side, which says nothing yet.
std::vector<CaseResult> resultsPerSide(const GuestBenchPlan& plan, const Case& c) {
  std::vector<CaseResult> results;
  for (const std::string& side : plan.sides) {
    CaseResult& result = results.emplace_back();
    result.kind = "bench";
    result.id = c.id();
    result.name = c.name;
    result.op = c.op;
    result.backend = side;
    result.repro = plan.repeat(side, result.id);
  }
  return results;
}

/// Nanoseconds; 0: not measured, or too little to tell from nothing.
double medianOf(const CaseRecord& record, const char* figure) {
  const auto found = record.times.find(figure);
  return found == record.times.end() || found->second.median <= 1 ? 0 : found->second.median;
}

/// "0.98", "27754"
std::string ratioText(double ratio) { return fmt::format("{:.{}f}", ratio, ratio < 100 ? 2 : 0); }

double geometricMean(const std::vector<double>& values) {
  const double sum =
      std::accumulate(values.begin(), values.end(), 0.0, [](double all, double one) { return all + std::log(one); });
  return std::exp(sum / static_cast<double>(values.size()));
}

}  // namespace

Status GuestBenchJob::openAll() {
  if (guest_) return Status::ok();
  noteWork("opening " + plan_.sides[0]);
  OPKIT_ASSIGN(guest_, plan_.openGuest());
  OPKIT_ASSIGN(backends_, plan_.openBackends());
  noteWork("");
  return Status::ok();
}

std::vector<CaseResult> GuestBenchJob::resultsOf(const ChosenCase& c) {
  if (const Status status = openAll(); !status.isOk()) {  // both were opened by a worker before
    std::vector<CaseResult> results = resultsPerSide(plan_, c.description());
    for (CaseResult& result : results) result.check("open", status);
    return results;
  }
  return benchGuestCase(*c.group, c.index,
                        {*guest_, plan_.sides[0], backends_, plan_.registry, plan_.rules, plan_.options});
}

std::string GuestBenchJob::time(size_t chosen) {
  Json records = Json::array(), blocks = Json::array();
  for (CaseResult& result : resultsOf(plan_.chosen[chosen])) {
    result.repro = plan_.repeat(result.backend, result.id);
    if (isFailure(result.status)) blocks.push_back(failureBlock(result, result.repro));
    records.push_back(reports::toJson(toRecord(result)));
  }
  return textOf({{"records", records}, {"blocks", blocks}});
}

GuestBenchRun::GuestBenchRun(const GuestBenchPlan& plan, ResultFile& file)
    : plan_(plan), file_(file), table_(headingOf(plan.sides)), progress_(plan.chosen.size()) {}

Status GuestBenchRun::run() {
  OPKIT_ASSIGN(const GuestLogs logs, GuestLogs::create());
  GuestBenchJob job(plan_);
  const IsolationLimits limits{.workers = 1, .timeoutSeconds = plan_.timeoutSeconds, .stop = [this] {
                                 return !file_.status().isOk() || ClosedOutput::isSeen();
                               }};
  OPKIT_TRY(runIsolated(
      plan_.chosen.size(), limits,
      [&](size_t i) {
        printInto(logs.of(i));
        return job.time(i);
      },
      [&](size_t i, const JobOutcome& outcome) {
        takeCase(i, outcome, logs.lastLines(i));
        logs.remove(i);
      }));
  progress_.clear();
  return file_.status();
}

void GuestBenchRun::takeCase(size_t chosen, const JobOutcome& outcome, const std::string& printed) {
  const Case& c = plan_.chosen[chosen].description();
  progress_.step(c.op);
  std::vector<CaseRecord> sides;
  std::vector<std::string> blocks;
  if (outcome.kind == JobOutcome::Kind::Answered) {
    const Json answer = parseJson(outcome.answer);
    for (const Json& one : answer.value("records", Json::array())) sides.push_back(reports::caseFromJson(one));
    blocks = answer.value("blocks", blocks);
  } else {
    for (const CaseResult& result : lost(c, outcome)) {
      sides.push_back(toRecord(result));
      if (isFailure(result.status)) blocks.push_back(failureBlock(result, result.repro) + printed);
    }
  }
  if (!blocks.empty()) progress_.clear();
  for (const std::string& block : blocks) fmt::print("{}", block);
  record(sides);
}

/// The side that was at work is to blame; the others are skipped.
std::vector<CaseResult> GuestBenchRun::lost(const Case& c, const JobOutcome& outcome) const {
  size_t guilty = 0;
  for (size_t i = 1; i < plan_.sides.size(); ++i)
    if (outcome.where.ends_with(" on " + plan_.sides[i])) guilty = i;
  std::vector<CaseResult> results = resultsPerSide(plan_, c);
  for (CaseResult& result : results) {
    result.status = CaseStatus::Skip;
    result.reason = fmt::format("{} ended the worker", plan_.sides[guilty]);
  }
  const bool isLate = outcome.kind == JobOutcome::Kind::TimedOut;
  results[guilty].status = isLate ? CaseStatus::Hang : CaseStatus::Crash;
  results[guilty].reason = placedLossText(outcome, plan_.timeoutSeconds);
  return results;
}

void GuestBenchRun::record(const std::vector<CaseRecord>& sides) {
  for (const CaseRecord& one : sides) {
    file_.write(one);
    ++done_;
    failed_ = failed_ || isFailure(one.status);
    if (one.status != CaseStatus::Pass && !isFailure(one.status))
      untimed_.push_back(fmt::format("  {} on {}: {}", one.id, one.backend, one.reason));
  }
  if (sides.size() == plan_.sides.size()) addRows(sides);
}

void GuestBenchRun::addRows(const std::vector<CaseRecord>& sides) {
  timed_ += !sides[0].times.empty();
  for (const Phase& phase : kPhases) {
    const double guest = medianOf(sides[0], phase.figure);
    if (guest == 0) continue;
    std::vector<std::string> cells = {sides[0].id, phase.name}, ratios;
    for (size_t i = 1; i < sides.size(); ++i) {
      const double own = medianOf(sides[i], phase.figure);
      cells.push_back(own > 0 ? cli::formatNs(own) : "-");
      ratios.push_back(own > 0 ? ratioText(guest / own) : "-");
      if (own > 0) ratios_[{phase.name, i}].push_back(guest / own);
    }
    cells.push_back(cli::formatNs(guest));
    cells.insert(cells.end(), ratios.begin(), ratios.end());
    table_.add(cells);
  }
}

void GuestBenchRun::print() const {
  if (!table_.empty()) fmt::print("{}", table_.toString());
  for (const Phase& phase : kPhases)
    for (size_t i = 1; i < plan_.sides.size(); ++i) {
      const auto found = ratios_.find({phase.name, i});
      if (found == ratios_.end()) continue;
      const std::vector<double>& values = found->second;
      fmt::print("{}: {} takes {} times the time of {}, the geometric mean of {} case{}\n", phase.name, plan_.sides[0],
                 ratioText(geometricMean(values)), plan_.sides[i], values.size(), values.size() == 1 ? "" : "s");
    }
  if (!untimed_.empty()) fmt::print("not timed:\n{}\n", fmt::join(untimed_, "\n"));
}

}  // namespace opkit::harness
