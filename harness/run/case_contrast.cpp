#include "harness/run/case_contrast.h"

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/base/json_text.h"
#include "harness/cases/case.h"
#include "harness/compare/alterations.h"

namespace opkit::harness {
namespace {

constexpr size_t kFewestFailing = 2, kFewestPassing = 6;
constexpr size_t kFewestForPairs = 4, kFewestForThree = 6;  // with fewer failures some fit by chance
constexpr size_t kShareOfPassing = 20;
constexpr size_t kMostAlternatives = 3;

/// Properties in the order in which they are preferred: facts that hold or not, then numbers.
struct Traits {
  std::vector<std::string> facts;
  std::vector<std::pair<std::string, double>> numbers;
};

void addParam(const std::string& key, const nlohmann::json& value, const nlohmann::json& standard, Traits& traits) {
  if (value != standard) traits.facts.push_back(fmt::format("{} is not its default", key));
  traits.facts.push_back(fmt::format("{}={}", key, value.dump()));
  if (value.is_number()) traits.numbers.emplace_back(key, value.get<double>());
}

void addInputFeatures(const OpDef& def, size_t i, const Case& c, Traits& traits) {
  const Port* port = portOf(def.inputs, i);
  const std::string name = port ? fmt::format("'{}'", port->name) : fmt::format("input {}", i);
  if (!c.inputs[i]) return traits.facts.push_back("without " + name);
  traits.facts.push_back("with " + name);
  traits.facts.push_back(fmt::format("{} is {}", name, opkit::nameOf(c.inputs[i]->dtype)));
  traits.facts.push_back(fmt::format("{} is {} constant", name, c.isConstant(i) ? "a" : "no"));
  const Shape& shape = c.inputs[i]->shape;
  traits.facts.push_back(fmt::format("{} has {} axes", name, shape.size()));
  const auto rank = static_cast<int>(shape.size());
  for (int d = 1; d <= rank; ++d)
    traits.numbers.emplace_back(fmt::format("axis {} of {}", -d, name), shape[static_cast<size_t>(rank - d)]);
  if (rank > 1) traits.numbers.emplace_back(fmt::format("axis 0 of {}", name), shape[0]);
  traits.numbers.emplace_back("the size of " + name, c.inputs[i]->elements());
}

std::optional<Traits> traitsOf(const OpDef& def, const std::string& id) {
  const auto c = parseCaseId(id);
  const auto params = c ? paramsFromJson(def.params, c->params) : Status::invalidArgument("no case");
  if (!params) return std::nullopt;
  Traits traits;
  const auto parsed = [&def](const ParamBytes& bytes) { return parseJson(paramsWithDefaults(def.params, bytes)); };
  const auto none = paramsFromJson(def.params, "{}");
  const nlohmann::json values = parsed(*params), standard = none ? parsed(*none) : nlohmann::json();
  for (const auto& [key, value] : values.items())
    addParam(key, value, standard.is_object() && standard.contains(key) ? standard[key] : nlohmann::json(), traits);
  for (size_t i = 0; i < c->inputs.size(); ++i) addInputFeatures(def, i, *c, traits);
  traits.facts.push_back(fmt::format("lane {}", nameOf(c->lane)));
  return traits;
}

/// A property that every failing case has.
struct Property {
  std::string text;
  std::string subject;
  std::vector<bool> passing;  // which passing cases have it
  size_t count = 0;
};

class Contrast {
 public:
  Contrast(const OpDef& def, const std::vector<std::string>& failing, const std::vector<std::string>& passing) {
    for (const std::string& id : failing)
      if (auto traits = traitsOf(def, id)) failing_.push_back(*std::move(traits));
    for (const std::string& id : passing)
      if (auto traits = traitsOf(def, id)) passing_.push_back(*std::move(traits));
  }

  std::string find() {
    if (failing_.size() < kFewestFailing || passing_.size() < kFewestPassing) return "";
    collect();
    const auto best = std::ranges::min_element(properties_, {}, &Property::count);
    if (best == properties_.end()) return "";
    if (best->count > 0 && failing_.size() >= kFewestForPairs)
      if (const std::string both = several(); !both.empty()) return sentence(both, 0);
    return kShareOfPassing * best->count <= passing_.size() ? sentence(alternatives(best->count), best->count) : "";
  }

 private:
  using Has = std::function<bool(const Traits&)>;

  void offer(std::string text, std::string subject, const Has& has) {
    if (!std::ranges::all_of(failing_, has)) return;
    Property property{std::move(text), std::move(subject), {}, 0};
    for (const Traits& one : passing_) {
      property.passing.push_back(has(one));
      property.count += property.passing.back();
    }
    if (property.count < passing_.size()) properties_.push_back(std::move(property));
  }

  void collect() {
    for (const std::string& fact : failing_.front().facts)
      offer(fact, fact.substr(0, fact.find_first_of("= ")),
            [&](const Traits& one) { return std::ranges::find(one.facts, fact) != one.facts.end(); });
    for (const auto& [name, value] : failing_.front().numbers) offerNumber(name);
  }

  static std::optional<double> numberOf(const Traits& one, const std::string& name) {
    const auto found = std::ranges::find(one.numbers, name, &std::pair<std::string, double>::first);
    return found == one.numbers.end() ? std::nullopt : std::optional(found->second);
  }

  /// A bound, or what is left over by a width.
  void offerNumber(const std::string& name) {
    double low = INFINITY, high = -INFINITY;
    for (const Traits& one : failing_) {
      const auto value = numberOf(one, name);
      if (!value) return;
      low = std::min(low, *value), high = std::max(high, *value);
    }
    const auto where = [&name](const std::function<bool(double)>& is) -> Has {
      return [&name, is](const Traits& one) {
        const auto value = numberOf(one, name);
        return value && is(*value);
      };
    };
    if (low == high) offer(fmt::format("{} is {}", name, low), name, where([=](double v) { return v == low; }));
    for (const int width : {4, 8, 16, 32, 64}) {
      if (name.starts_with("the size")) break;
      const auto isRest = [width](double v) { return std::fmod(v, width) != 0; };
      offer(fmt::format("{} is no multiple of {}", name, width), name, where(isRest));
      offer(fmt::format("{} is a multiple of {}", name, width), name, where(std::not_fn(isRest)));
    }
    offer(fmt::format("{} is at least {}", name, low), name, where([=](double v) { return v >= low; }));
    offer(fmt::format("{} is at most {}", name, high), name, where([=](double v) { return v <= high; }));
  }

  /// The properties that tell the cases apart equally well, one of each subject: "axis -1 of 'x' is 7, or with 'bias'".
  std::string alternatives(size_t count) const {
    std::vector<const Property*> named;
    for (const Property& one : properties_) {
      const bool isKnown = std::ranges::find(named, one.subject, &Property::subject) != named.end();
      if (one.count == count && !isKnown && named.size() < kMostAlternatives) named.push_back(&one);
    }
    std::string text;
    for (const Property* one : named) text += (text.empty() ? "" : ", or ") + one->text;
    return text;
  }

  std::string sentence(const std::string& property, size_t count) const {
    return fmt::format("{}: so in all {} cases that fail in this way, and in {} of {} that pass", property,
                       failing_.size(), count == 0 ? "none" : std::to_string(count), passing_.size());
  }

  /// The first pair, or three, that no passing case has; empty if there is none.
  std::string several() const {
    for (size_t a = 0; a < properties_.size(); ++a)
      for (size_t b = a + 1; b < properties_.size(); ++b)
        if (areApart({a, b})) return properties_[a].text + " and " + properties_[b].text;
    if (failing_.size() < kFewestForThree) return "";
    for (size_t a = 0; a < properties_.size(); ++a)
      for (size_t b = a + 1; b < properties_.size(); ++b)
        for (size_t c = b + 1; c < properties_.size(); ++c)
          if (areApart({a, b, c}))
            return properties_[a].text + " and " + properties_[b].text + " and " + properties_[c].text;
    return "";
  }

  /// True if no passing case has all of these properties.
  bool areApart(const std::vector<size_t>& chosen) const {
    for (size_t i = 0; i < passing_.size(); ++i)
      if (std::ranges::all_of(chosen, [&](size_t k) { return properties_[k].passing[i]; })) return false;
    return true;
  }

  std::vector<Traits> failing_, passing_;
  std::vector<Property> properties_;
};

}  // namespace

std::string contrastOf(const OpDef& def, const std::vector<std::string>& failing,
                       const std::vector<std::string>& passing) {
  return Contrast(def, failing, passing).find();
}

}  // namespace opkit::harness
