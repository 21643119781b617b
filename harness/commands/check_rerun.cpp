#include "harness/commands/check_rerun.h"

#include "engine/base/interrupt.h"

namespace opkit::harness {

std::optional<CaseStatus> Rerun::of(const CaseRecord& record) const {
  if (all_) return all_;
  const auto found = byCase_.find({record.id, record.backend});
  return found == byCase_.end() ? std::nullopt : std::optional(found->second);
}

Result<std::optional<Rerun>> Reruns::run(const CheckUnit& unit) {
  if (interrupted() || ++asked_ > most_) return std::optional<Rerun>();
  std::optional<Rerun> again;
  limits_.workers = 1;
  OPKIT_TRY(runIsolated(
      1, limits_, [&](size_t) { return job_.run(unit).toText(); },
      [&](size_t, const JobOutcome& outcome) {
        again.emplace();
        if (outcome.kind != JobOutcome::Kind::Answered)
          again->all_ = outcome.kind == JobOutcome::Kind::TimedOut ? CaseStatus::Hang : CaseStatus::Crash;
        for (const JobReport& report : JobReports::fromText(outcome.answer).reports)
          again->byCase_[{report.record.id, report.record.backend}] = report.record.status;
      }));
  return again;
}

std::string rerunText(CaseStatus again) {
  if (again == CaseStatus::Pass)
    return "  rerun    passed when run again: it comes and goes (a race, or memory that nobody wrote)\n";
  return fmt::format("  rerun    failed again{}\n",
                     again == CaseStatus::Fail ? "" : fmt::format(" ({})", reports::nameOf(again)));
}

}  // namespace opkit::harness
