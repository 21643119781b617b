#include "harness/commands/day_cases.h"

#include <chrono>

#include "harness/run/build_facts.h"
#include "harness/run/terminal.h"
#include "harness/run/worker_note.h"
#include "harness/watch/edited_operators.h"

namespace opkit::harness {

DayBudget dayBudget(const std::string& seconds, std::optional<uint64_t> day, const OpRegistry& registry) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto days = std::chrono::duration_cast<std::chrono::days>(now).count();
  const auto today = static_cast<uint64_t>(std::max<int64_t>(days, 0));  // a clock may say anything
  DayBudget budget{.day = day.value_or(today)};
  if (!seconds.empty()) budget.seconds = std::stod(seconds);
  budget.edited = operatorsOfFiles(uncommittedFiles(sourceFolder()), sourceFolder(), registry);
  return budget;
}

Result<Catalogue> loadCasesOf(CaseOptions cases, const std::optional<DayBudget>& budget, const OpRegistry& registry) {
  if (budget) cases.drawsOfDay = {budget->day, budget->coreSeconds() * DayBudget::kDrawnShare};
  Announcement drawing("drawing cases");
  noteWork("drawing cases");
  cases.drawProgress = [&](size_t done, size_t all) { drawing.step(done, all); };
  auto catalogue = loadCases(cases, registry);
  noteWork("");
  return catalogue;
}

}  // namespace opkit::harness
