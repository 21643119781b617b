#include "harness/guest/guest_totals.h"

#include <algorithm>

#include "engine/base/printable.h"
#include "engine/tools/cli.h"
#include "harness/run/terminal.h"

namespace opkit::harness {
namespace {

// In the order of the columns.
constexpr std::array kStates = {CaseStatus::Pass,  CaseStatus::Fail,       CaseStatus::Refused,
                                CaseStatus::Crash, CaseStatus::Hang,       CaseStatus::Unstable,
                                CaseStatus::Leak,  CaseStatus::Unexpected, CaseStatus::Expected,
                                CaseStatus::Flake, CaseStatus::Skip,       CaseStatus::Unsupported};
constexpr size_t kMostOfReason = 100;

/// "not claimed", "no form: a type that ONNX forbids": the text before the details.
std::string reasonKind(const std::string& reason) {
  size_t end = reason.find(": ");
  if (reason.starts_with("no form: ")) end = reason.find(": ", end + 1);
  return printable(reason.substr(0, std::min(end, kMostOfReason)));
}

std::string someOf(const std::set<std::string>& names) {
  constexpr size_t kMost = 6;
  std::string text;
  size_t shown = 0;
  for (const std::string& name : names) {
    if (shown++ == kMost) return text + fmt::format(" and {} more", names.size() - kMost);
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

}  // namespace

void GuestTotals::add(const CaseRecord& one) {
  ++cases_;
  executed_ += isExecuted(one.status);
  failures_ += isFailure(one.status);
  ++total_[one.status];
  OfOperator& of = operators_[one.op];
  ++of.count[one.status];
  of.durationNs += one.durationNs;
  if (one.accuracy && one.status == CaseStatus::Pass) of.worstMargin = std::max(of.worstMargin, one.accuracy->margin);
  if (one.status != CaseStatus::Unsupported) return;
  Reason& reason = reasons_[reasonKind(one.reason)];
  ++reason.cases;
  reason.operators.insert(one.op);
}

std::string GuestTotals::table() const {
  std::vector<CaseStatus> columns;
  for (const CaseStatus state : kStates)
    if (state == CaseStatus::Pass || state == CaseStatus::Fail || total_.contains(state)) columns.push_back(state);
  std::vector<std::string> heading = {"operator"};
  for (const CaseStatus state : columns) heading.emplace_back(nameOf(state));
  heading.insert(heading.end(), {"margin", "time"});
  Table table(heading);
  for (const auto& [op, of] : operators_) {
    std::vector<std::string> row = {op};
    for (const CaseStatus state : columns) {
      const auto found = of.count.find(state);
      row.push_back(found == of.count.end() ? "-" : std::to_string(found->second));
    }
    row.push_back(formatNumber(of.worstMargin));
    row.push_back(cli::formatNs(of.durationNs));
    table.add(std::move(row));
  }
  return table.toString();
}

std::string GuestTotals::reasons(size_t most) const {
  std::vector<std::pair<size_t, std::string>> sorted;
  for (const auto& [reason, of] : reasons_) sorted.emplace_back(of.cases, reason);
  std::ranges::sort(sorted, std::greater<>());
  if (sorted.empty()) return "";
  Table table({"cases", "not asked", "operators"});
  for (size_t i = 0; i < std::min(most, sorted.size()); ++i)
    table.add({std::to_string(sorted[i].first), sorted[i].second, someOf(reasons_.at(sorted[i].second).operators)});
  const std::string rest =
      sorted.size() > most ? fmt::format("and {} more reasons; --json has them all\n", sorted.size() - most) : "";
  return table.toString() + rest;
}

std::string GuestTotals::summary() const {
  std::string text;
  for (const CaseStatus state : kStates)
    if (const auto found = total_.find(state); found != total_.end())
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", found->second, nameOf(state));
  const auto ran = [](const auto& entry) {
    return std::ranges::any_of(entry.second.count, [](const auto& each) { return isExecuted(each.first); });
  };
  const char* const verdict = failures_ > 0 ? "FAIL" : executed_ > 0 ? "ok" : "nothing executed";
  return fmt::format("{}: {}; {} of {} operators ran\n",
                     coloured(failures_ > 0 || executed_ == 0 ? CaseStatus::Fail : CaseStatus::Pass, verdict),
                     text.empty() ? "no case" : text, std::ranges::count_if(operators_, ran), operators_.size());
}

}  // namespace opkit::harness
