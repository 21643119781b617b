#include "harness/check/shrink.h"

#include <nlohmann/json.hpp>

#include "engine/base/json_text.h"
#include "harness/cases/vary.h"
#include "harness/compare/expected.h"

namespace opkit::harness {
namespace {

using Json = nlohmann::json;

class Shrinker {
 public:
  Shrinker(CaseGroup group, std::string check, const OpRegistry& registry, const Fails& fails, size_t maxTrials)
      : group_(std::move(group)), check_(std::move(check)), registry_(registry), fails_(fails), maxTrials_(maxTrials) {}

  Shrunk run() {
    dropStops();
    bool smaller = true;
    while (smaller && trials_ < maxTrials_) {
      smaller = shrinkExtents();
      smaller = dropParams() || smaller;
      smaller = dropInputs() || smaller;
    }
    simplifyValues();
    return {group_, trials_};
  }

 private:
  bool accept(const CaseGroup& candidate) {
    if (trials_ >= maxTrials_) return false;
    ++trials_;
    const auto failed = fails_(candidate);
    if (!failed || *failed != check_) return false;
    group_ = candidate;
    return true;
  }

  template <class Change>
  bool acceptAll(Change&& change) {
    CaseGroup candidate = group_;
    for (Case& c : candidate.cases) {
      c = change(c);
      c.dropStored();
    }
    return accept(candidate);
  }

  void dropStops() {
    if (group_.cases.size() < 2 || accept({{group_.cases[0]}})) return;
    for (size_t i = group_.cases.size(); i-- > 1;) {
      CaseGroup fewer = group_;
      fewer.cases.erase(fewer.cases.begin() + static_cast<std::ptrdiff_t>(i));
      accept(fewer);
    }
  }

  bool shrinkExtents() {
    bool any = false;
    std::vector<int64_t> extents;
    for (const Case& c : group_.cases)
      for (const int64_t extent : extentsOf(c)) extents.push_back(extent);
    std::sort(extents.begin(), extents.end(), std::greater<>());
    extents.erase(std::unique(extents.begin(), extents.end()), extents.end());
    for (int64_t extent : extents)
      for (bool again = true; again;) {
        again = false;
        for (const int64_t target : {int64_t{1}, extent / 2, extent - 1}) {
          if (target < 1 || target >= extent) continue;
          if (!acceptAll([&](const Case& c) { return withExtent(c, extent, target); })) continue;
          extent = target;
          any = again = true;
          break;
        }
      }
    return any;
  }

  bool dropParams() {
    bool any = false;
    const Json params = parseJson(group_.cases[0].params);
    if (!params.is_object()) return false;
    for (const auto& [key, value] : params.items())
      any = acceptAll([&, name = key](Case c) {
              Json fewer = parseJson(c.params);
              fewer.erase(name);
              c.params = fewer.dump();
              return c;
            }) ||
            any;
    return any;
  }

  bool dropInputs() {
    const OpDef* def = registry_.find(group_.cases[0].op);
    const Case& first = group_.cases[0];
    if (!def || first.inputs.empty()) return false;
    const Port* port = portOf(def->inputs, first.inputs.size() - 1);
    if (!port || port->kind != Port::Kind::Optional || first.isConstant(first.inputs.size() - 1)) return false;
    return acceptAll([](Case c) {
      c.inputs.pop_back();
      c.data.resize(std::min(c.data.size(), c.inputs.size()));
      return c;
    });
  }

  /// All ones, else small integers: values that a reader can follow.
  void simplifyValues() {
    for (size_t i = 0; i < group_.cases[0].inputs.size(); ++i) {
      if (i < group_.cases[0].data.size() && !group_.cases[0].data[i].empty()) continue;
      for (const char* form : {R"({"value":1})", R"({"pattern":"ramp"})"})
        if (acceptAll([&](Case c) {
              c.data.resize(std::max(c.data.size(), i + 1));
              c.data[i] = form;
              return c;
            }))
          break;
    }
  }

  CaseGroup group_;
  std::string check_;
  const OpRegistry& registry_;
  const Fails& fails_;
  size_t maxTrials_;
  size_t trials_ = 0;
};

}  // namespace

Shrunk shrinkGroup(const CaseGroup& group, const std::string& check, const OpRegistry& registry, const Fails& fails,
                   size_t maxTrials) {
  return Shrinker(group, check, registry, fails, maxTrials).run();
}

}  // namespace opkit::harness
