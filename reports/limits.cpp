#include "reports/limits.h"

#include <algorithm>
#include <map>
#include <optional>

namespace opkit::reports {
namespace {

/// The first byte of a character at or after `at`.
size_t characterAt(const std::string& text, size_t at) {
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
  return at;
}

void cutField(std::string& text) {
  if (text.size() <= kLongestShown) return;
  const size_t half = kLongestShown / 2, begin = characterAt(text, half), end = characterAt(text, text.size() - half);
  text.replace(begin, end - begin, fmt::format(" ... {} bytes left out ... ", end - begin));
}

template <class T>
void cutField(std::vector<T>& list);
template <class T>
void cutField(std::map<std::string, T>& dictionary);
template <class T>
void cutField(std::optional<T>& value);

/// Of all texts in a record.
template <class T>
void cutField(T& value) {
  if constexpr (requires { T::describe(value, [](const char*, auto&, Presence) {}); })
    T::describe(value, [](const char*, auto& field, Presence) { cutField(field); });
}

template <class T>
void cutField(std::vector<T>& list) {
  for (T& each : list) cutField(each);
}

template <class T>
void cutField(std::map<std::string, T>& dictionary) {
  const auto isLong = [](const auto& entry) { return entry.first.size() > kLongestShown; };
  while (true) {
    const auto found = std::ranges::find_if(dictionary, isLong);
    if (found == dictionary.end()) break;
    auto node = dictionary.extract(found);
    cutField(node.key());
    if (node.key().size() > kLongestShown) node.key().resize(characterAt(node.key(), kLongestShown / 2));
    dictionary.insert(std::move(node));
  }
  for (auto& [key, each] : dictionary) cutField(each);
}

template <class T>
void cutField(std::optional<T>& value) {
  if (value) cutField(*value);
}

}  // namespace

void cutTexts(Results& results) {
  for (Run& run : results.runs) {
    cutField(run.facts);
    for (std::string* text : {&run.outcome, &run.ended, &run.part, &run.night}) cutField(*text);
  }
  cutField(results.warnings);
  cutField(results.devices);
  cutField(results.cases);
  cutField(results.mutants);
}

size_t cutFacts(std::vector<OperatorFacts>& facts) {
  const size_t left = facts.size() - std::min(facts.size(), kMostOperators);
  facts.resize(facts.size() - left);
  size_t room = kTimesShown;
  for (OperatorFacts& one : facts) {
    const size_t shown = std::min({one.times.size(), kTimesOfOneShown, room});
    one.moreTimes = one.times.size() - shown;
    one.times.resize(shown);
    room -= shown;
  }
  return left;
}

}  // namespace opkit::reports
