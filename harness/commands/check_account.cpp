#include "harness/commands/check_account.h"

#include <set>

#include "harness/run/terminal.h"

namespace opkit::harness {
namespace {

using Json = nlohmann::json;

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

void CheckAccount::add(const Json& line) {
  if (!line.contains("size")) return;  // an error case, a crash or a rule for case files
  const Json& size = line["size"];
  ++reach_.cases;
  reach_.large += size.value("elements", int64_t{0}) > kLargeElements;
  reach_.deep += size.value("rank", size_t{0}) >= kDeepRank;
  reach_.batched += size.value("batch", int64_t{0}) >= kManyMatrices;
  reach_.stops += line.value("stops", size_t{0});
  reach_.furtherStops += line.value("furtherStops", size_t{0});
  countSubChecks(line, counts_[{line.value("op", ""), line.value("backend", "")}]);
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
      percent(reach_.large, reach_.cases), reach_.cases, kLargeElements, percent(reach_.deep, reach_.cases), kDeepRank,
      percent(reach_.batched, reach_.cases), kManyMatrices, reach_.stops, reach_.furtherStops);
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

Json CheckAccount::toJson() const {
  Json subChecks = Json::object();
  for (const auto& [name, count] : all()) subChecks[name] = {{"ran", count.ran}, {"notRun", count.missed()}};
  return {{"reach",
           {{"cases", reach_.cases},
            {"over65536Elements", reach_.large},
            {"rank5", reach_.deep},
            {"batch5", reach_.batched},
            {"stops", reach_.stops},
            {"furtherStops", reach_.furtherStops}}},
          {"subChecks", subChecks}};
}

}  // namespace opkit::harness
