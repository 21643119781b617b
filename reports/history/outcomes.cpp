#include "reports/history/outcomes.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "reports/history/store.h"

namespace opkit::reports {
namespace {

/// The upper bits of the digest as a number that is exact in a double.
double numberOfBits(int64_t digest) { return static_cast<double>(static_cast<uint64_t>(digest) >> 12); }

/// Of columns provider, status, margin, max_ulp, max_abs, nmse, shader_bytes, arena_bytes, allocations, dispatches,
/// bits, from the second column on.
Outcome outcomeOf(const Statement& row) {
  Outcome outcome;
  outcome.provider = row.text(1);
  const auto status = statusFromName(row.text(2));
  const auto rank = status ? rankOf(*status) : std::nullopt;
  outcome.values[0] = rank ? *rank : NAN;
  for (int i = 1; i < 9; ++i) outcome.values[static_cast<size_t>(i)] = row.isNull(i + 2) ? NAN : row.real(i + 2);
  outcome.values[9] = row.isNull(11) ? NAN : numberOfBits(row.integer(11));
  if (status == CaseStatus::Flake)  // known to come and go: its errors are no news
    for (const size_t metric : {1, 2, 3, 4, 9}) outcome.values[metric] = NAN;
  return outcome;
}

}  // namespace

bool Outcome::operator==(const Outcome& other) const {
  return provider == other.provider && std::ranges::equal(values, other.values, [](double a, double b) {
           return a == b || (std::isnan(a) && std::isnan(b));
         });
}

Result<Outcomes> Outcomes::read(const Database& database, const std::vector<int64_t>& subjects) {
  Outcomes outcomes;
  OPKIT_ASSIGN(Statement rows, database.prepare("SELECT subject, provider, status, margin, max_ulp, max_abs, nmse, "
                                                "shader_bytes, arena_bytes, allocations, dispatches, bits FROM outcome "
                                                "JOIN conclusion ON conclusion.id = outcome.conclusion "
                                                "WHERE subject = ? ORDER BY variant"));
  for (const int64_t subject : subjects) {
    outcomes.first_.push_back(outcomes.all_.size());
    rows.bind(subject);
    while (true) {
      OPKIT_ASSIGN(const bool more, rows.step());
      if (!more) break;
      outcomes.all_.push_back(outcomeOf(rows));
    }
  }
  outcomes.first_.push_back(outcomes.all_.size());
  return outcomes;
}

std::vector<Folded> Outcomes::fold(const std::vector<size_t>& groups) const {
  constexpr size_t kMany = ~size_t{0};
  std::map<size_t, size_t> only;  // outcome of a group
  for (size_t i = 0; i < groups.size(); ++i) {
    const size_t count = first_[i + 1] - first_[i];
    if (count == 0) continue;
    size_t& known = only.try_emplace(groups[i], first_[i]).first->second;
    if (count > 1 || known == kMany || !(all_[known] == all_[first_[i]])) known = kMany;
  }
  std::vector<Folded> folded(groups.size());
  for (size_t i = 0; i < groups.size(); ++i) {
    const auto found = only.find(groups[i]);
    if (found == only.end() || found->second == kMany) continue;
    for (size_t metric = kExactMetrics; metric-- > 1;)
      if (!std::isnan(all_[found->second].values[metric])) folded[i] = {metric, folded[i].alike + 1};
  }
  return folded;
}

}  // namespace opkit::reports
