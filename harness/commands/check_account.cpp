#include "harness/commands/check_account.h"

#include <set>

#include "harness/run/terminal.h"

namespace opkit::harness {
namespace {

// Limits beyond which faults hid before: 16-bit counts, four loops, four matrices.
constexpr int64_t kLargeElements = 65536;
constexpr size_t kDeepRank = 5;
constexpr int64_t kManyMatrices = 5;
constexpr size_t kReasonsShown = 6;  // per sub-check

double percent(size_t part, size_t all) {
  return all == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(all);
}

/// The most frequent reasons first.
std::vector<std::pair<size_t, std::string>> byCount(const SubCheckCount& count) {
  std::vector<std::pair<size_t, std::string>> reasons;
  for (const auto& [reason, number] : count.notRun) reasons.emplace_back(number, reason);
  std::stable_sort(reasons.begin(), reasons.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  return reasons;
}

}  // namespace

void CheckAccount::add(const CaseRecord& record) {
  if (!record.size) return;  // an error case, a crash or a rule for case files
  ++reach_.cases;
  reach_.over65536Elements += record.size->elements > kLargeElements;
  reach_.rank5 += record.size->rank >= kDeepRank;
  reach_.batch5 += record.size->batch >= kManyMatrices;
  reach_.stops += record.stops;
  reach_.furtherStops += record.furtherStops;
  countSubChecks(record, counts_[{record.op, record.backend}]);
}

SubCheckCounts CheckAccount::all() const {
  SubCheckCounts sum;
  for (const auto& [key, counts] : counts_)
    for (const auto& [name, count] : counts) {
      sum[name].ran += count.ran;
      for (const auto& [reason, number] : count.notRun) sum[name].notRun[reason] += number;
    }
  return sum;
}

void CheckAccount::printSummary() const {
  if (reach_.cases == 0) return;
  fmt::print(
      "reach: {:.1f} % of {} cases over {} elements, {:.1f} % of rank {} or more, {:.1f} % of batch {} or more; "
      "walks made {} stops, {} of them variations\n",
      percent(reach_.over65536Elements, reach_.cases), reach_.cases, kLargeElements,
      percent(reach_.rank5, reach_.cases), kDeepRank, percent(reach_.batch5, reach_.cases), kManyMatrices, reach_.stops,
      reach_.furtherStops);
  size_t ran = 0, missed = 0;
  std::string text;
  for (const auto& [name, count] : all()) {
    ran += count.ran;
    missed += count.missed();
    if (count.missed()) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, count.missed());
  }
  fmt::print("sub-checks: {} ran, {} did not{}\n", ran, missed,
             text.empty() ? "" : ": " + text + " (--subchecks prints the reasons)");
}

void CheckAccount::printSubChecks() const {
  const SubCheckCounts sum = all();
  std::vector<std::string> heading = {"operator", "backend"};
  for (const auto& [name, count] : sum) heading.push_back(name);
  Table table(heading);
  for (const auto& [key, counts] : counts_) {
    std::vector<std::string> row = {key.first, key.second};
    for (const auto& [name, unused] : sum) {
      const auto found = counts.find(name);
      if (found == counts.end())
        row.emplace_back(".");
      else if (found->second.missed() == 0)
        row.push_back(std::to_string(found->second.ran));
      else
        row.push_back(fmt::format("{}/{}", found->second.ran, found->second.ran + found->second.missed()));
    }
    table.add(std::move(row));
  }
  fmt::print("{}N: ran in all N cases; M/N: in M of N; .: not a sub-check of the backend. Not run because:\n",
             table.toString());
  for (const auto& [name, count] : sum) {
    const auto reasons = byCount(count);
    for (size_t i = 0; i < std::min(reasons.size(), kReasonsShown); ++i)
      fmt::print("  {} {}: {}\n", name, reasons[i].first, reasons[i].second);
    if (reasons.size() > kReasonsShown)
      fmt::print("  {}: {} more reasons, see --json\n", name, reasons.size() - kReasonsShown);
  }
}

void CheckAccount::addTo(reports::SummaryRecord& summary) const {
  summary.reach = reach_;
  for (const auto& [name, count] : all()) summary.subChecks[name] = {count.ran, count.missed()};
}

}  // namespace opkit::harness
