#include "harness/run/failure_causes.h"

#include <cctype>
#include <set>

#include "harness/run/case_contrast.h"

namespace opkit::harness {
namespace {

constexpr size_t kShapeLength = 80;

/// The message without numbers, and without the walk in front of it.
std::string shapeOf(const std::string& message) {
  std::string text;
  for (const char c : message) {
    const bool isDigit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (!isDigit || !text.ends_with('#')) text += isDigit ? '#' : c;
  }
  if (const size_t walk = text.rfind("]: "); walk != std::string::npos) text.erase(0, walk + 3);
  return text.substr(0, kShapeLength);
}

std::string keyOf(const CaseRecord& one) {
  const std::string kind = one.diagnosis ? one.diagnosis->kind : "";
  const bool isKnown = !kind.empty() && kind != "unknown";
  return fmt::format("{}|{}|{}|{}|{}", nameOf(one.status), one.provider + "/" + one.kernel, one.failedCheck, kind,
                     isKnown ? "" : shapeOf(one.reason));
}

/// How much a diagnosis says: lines of a shader; a mistake that gives the values, or a fact; elements of inputs; a
/// place or a symptom; nothing.
size_t rankOf(const CaseRecord& one) {
  static const std::set<std::string_view> kMistakes = {
      "parameter", "epsilon", "input",       "swapped", "broadcast", "index",      "tile",    "pad_value",
      "special",   "race",    "accumulated", "stale",   "clamped",   "transposed", "shifted", "repeated"};
  if (!one.diagnosis) return 4;
  const std::string& kind = one.diagnosis->kind;
  if (kind == "traced") return 0;
  if (kMistakes.contains(kind)) return 1;
  if (kind == "dependence") return 2;
  return kind == "unknown" ? 5 : 3;
}

}  // namespace

bool FailureCauses::add(const CaseRecord& one) {
  OfOperator& of = operators_[{one.op, one.backend}];
  ++of.failures;
  const auto [found, isNew] = of.causes.try_emplace(keyOf(one), Cause{one, {}});
  found->second.ids.push_back(one.id);
  return isNew;
}

/// Contrasts all failures of the operator; if they have nothing in common, those of its best cause.
std::string FailureCauses::common(const Key& key, const OfOperator& of, const Cause& best,
                                  const OpRegistry& registry) const {
  const OpDef* def = registry.find(key.first);
  if (!def || !passing_.contains(key)) return "";
  std::vector<std::string> failing, passing;
  std::set<std::string> failedChecks;
  for (const auto& [name, cause] : of.causes) {
    failing.insert(failing.end(), cause.ids.begin(), cause.ids.end());
    failedChecks.insert(cause.first.failedCheck);
  }
  for (const char* const always : {"", "accuracy", "exact", "specials", "poison"}) failedChecks.erase(always);
  const auto ran = [](const Pass& pass, const std::string& check) {
    return std::ranges::find(*pass.checks, check) != pass.checks->end();
  };
  for (const Pass& pass : passing_.at(key))
    if (std::ranges::all_of(failedChecks, [&](const std::string& check) { return ran(pass, check); }))
      passing.push_back(pass.id);
  const std::string text = contrastOf(*def, failing, passing);
  const bool isUsual = best.ids.size() < failing.size() && 2 * best.ids.size() >= failing.size();
  return text.empty() && isUsual ? contrastOf(*def, best.ids, passing) : text;
}

std::string FailureCauses::summary(size_t most, const OpRegistry& registry) const {
  if (operators_.empty()) return "";
  std::string text = "causes:\n";
  size_t shown = 0;
  for (const auto& [key, of] : operators_) {
    if (shown++ == most) {
      text += fmt::format("  and {} more operators and backends with failures\n", operators_.size() - most);
      break;
    }
    const Cause* best = nullptr;
    for (const auto& [name, cause] : of.causes)
      if (!best || std::pair(rankOf(cause.first), best->ids.size()) < std::pair(rankOf(best->first), cause.ids.size()))
        best = &cause;
    const CaseRecord& one = best->first;
    text +=
        fmt::format("  {} on {}, {} failure{}{}: {}\n", key.first, key.second, of.failures, of.failures == 1 ? "" : "s",
                    of.causes.size() == 1 ? "" : fmt::format(" of {} kinds", of.causes.size()),
                    one.diagnosis && one.diagnosis->kind != "unknown" ? one.diagnosis->text : one.reason);
    if (const std::string shared = common(key, of, *best, registry); !shared.empty())
      text += fmt::format("    {}\n", shared);
    if (!one.repro.empty()) text += fmt::format("    {}\n", one.repro);
  }
  return text;
}

}  // namespace opkit::harness
