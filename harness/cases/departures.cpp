#include "harness/cases/departures.h"

#include "harness/cases/case_file.h"

namespace opkit::harness {
namespace {

/// The id without "/seed=N".
std::string seedless(const Case& c) {
  std::string id = c.id();
  const std::string seed = "/seed=" + std::to_string(c.seed);
  if (const size_t at = id.find(seed); at != std::string::npos) id.erase(at, seed.size());
  return id;
}

}  // namespace

bool matchesPattern(const std::string& pattern, const std::string& text) {
  // The last star matches as little as possible, and more if the rest does not match.
  size_t p = 0, t = 0, star = std::string::npos, taken = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p, ++t;
    } else if (star != std::string::npos) {
      p = star + 1;
      t = ++taken;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

Status applyDepartures(const std::vector<Departure>& departures, bool required, std::vector<CaseGroup>& groups) {
  for (const Departure& departure : departures) {
    const bool sometimes = departure.pattern.starts_with('~');
    const std::string pattern = departure.pattern.substr(sometimes ? 1 : 0);
    size_t named = 0;
    for (CaseGroup& group : groups)
      for (Case& c : group.cases) {
        if (!matchesPattern(pattern, seedless(c))) continue;
        ++named;
        if (c.lane != Lane::Specials && departure.most == 0)
          return Status::invalidArgument(
              "\"departures\" of {}: '{}' names {}, which is compared by value: state \"most\"", departure.provider,
              departure.pattern, c.id());
        c.departures.try_emplace(departure.provider,
                                 CaseDeparture{departure.reason, required && !sometimes, departure.most});
      }
    if (required && named == 0)
      return Status::invalidArgument("\"departures\" of {}: the file has no case '{}'", departure.provider, pattern);
  }
  return Status::ok();
}

}  // namespace opkit::harness
