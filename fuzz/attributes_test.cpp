// Every ONNX rule against the specification (onnx_operators.tsv), in every version of its operators, and every rule of
// com.microsoft against ONNX Runtime (contrib_operators.tsv): an attribute that is absent means the same as one written
// out at its default, alone or with all others, another value changes the model or is refused by name, an attribute of
// another version is refused, and optional inputs count.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <set>

#include "fuzz/departures.h"
#include "fuzz/import_examples.h"
#include "fuzz/model_changes.h"
#include "ops/builtin_ops.h"

namespace opkit::fuzz {
namespace attributes_test {
namespace {

using namespace harness;

struct Counts {
  size_t rules = 0, versions = 0, attributes = 0, changed = 0, refused = 0, fields = 0, elsewhere = 0, inputs = 0,
         imports = 0, defaults = 0, meanings = 0;
};

Counts counts;

Result<Model> imported(const DrawnNode& node) {
  ++counts.imports;
  return importNode(node);
}

/// The first input that an operator must have and a node lacks, as text; empty if there is none.
std::string missingInput(const Model& model) {
  for (const ModelNode& node : model.nodes) {
    const OpDef* def = ops::builtinOps().find(node.type);
    for (size_t i = 0; def && i < def->inputs.size() && def->inputs[i].kind == Port::Kind::Required; ++i)
      if (i >= node.inputs.size() || !node.inputs[i]) return fmt::format("{} of {}", def->inputs[i].name, node.type);
  }
  return "";
}

/// A model, also as text, or why there is none.
struct Outcome {
  std::optional<Model> model;
  std::string text, message;

  explicit Outcome(const DrawnNode& node) {
    auto result = imported(node);
    if (!result) {
      message = result.error().message();
      return;
    }
    model = *std::move(result);
    text = textOf(*model);
    EXPECT_EQ(missingInput(*model), "") << "is not set by the rule of\n  " << node.toString();
  }
  bool operator==(const Outcome& other) const { return text == other.text && message == other.message; }
};

/// One version of an operator at one opset.
class Subject {
 public:
  Subject(const OperatorFact& fact, int opset) : fact_(fact), opset_(opset) {}

  void run(const std::set<std::string>& ofOtherVersions) {
    const DrawnNode base = exampleOf(fact_, opset_);
    const Outcome outcome(base);
    if (!outcome.model && find(refused(), fact_.listName(), "*")) return;
    EXPECT_TRUE(outcome.model) << base.toString() << "\n  must be imported: " << outcome.message;
    if (!outcome.model) return;
    tryDefaults(base, outcome);
    for (const AttributeFact& attribute : fact_.attributes) tryAttribute(attribute);
    for (size_t i = 0; i < fact_.inputs.size(); ++i)
      if (fact_.inputs[i].isOptional) tryInput(i);
    for (const std::string& name : ofOtherVersions)
      if (!fact_.find(name)) tryForeign(base, name);
  }

 private:
  /// All attributes at their defaults at once, as ONNX Runtime's optimiser writes nodes.
  void tryDefaults(DrawnNode node, const Outcome& base) {
    for (const AttributeFact& attribute : fact_.attributes)
      if (attribute.fallback && !find(otherBytes(), fact_.listName(), attribute.name))
        counts.defaults += node.attributes.try_emplace(attribute.name, *attribute.fallback).second;
    const Outcome written(node);
    EXPECT_TRUE(base == written) << node.toString() << "\n  means another model than without its defaults\n  "
                                 << written.message << difference(base, written);
  }

  void tryAttribute(const AttributeFact& attribute) {
    ++counts.attributes;
    const DrawnNode node = exampleOf(fact_, opset_, attribute.name);
    const Outcome base(node);
    ASSERT_TRUE(base.model) << node.toString() << "\n  must be imported: " << base.message;
    DrawnNode other = node;
    if (attribute.fallback) {
      other.attributes.erase(attribute.name);
      const Outcome absent(other);
      other.attributes[attribute.name] = *attribute.fallback;
      const Outcome written(other);
      EXPECT_TRUE(absent == written || find(otherBytes(), fact_.listName(), attribute.name))
          << other.toString() << "\n  means another model than without " << attribute.name << "\n  " << absent.message
          << "\n  " << written.message << difference(absent, written);
    }
    if (attribute.isRequired) tryWithout(node, attribute);
    const auto known = node.attributes.find(attribute.name);
    tryOthers(node, base, attribute, known != node.attributes.end() ? known->second : attribute.fallback.value_or(""));
  }

  static std::string difference(const Outcome& a, const Outcome& b) {
    std::string text;
    if (a.model && b.model)
      for (const auto& [name, value] : changedValues(*a.model, *b.model))
        text += fmt::format("\n  {} is {}", name, value.dump());
    return text;
  }

  /// A model without a required attribute is refused by its name.
  void tryWithout(DrawnNode node, const AttributeFact& attribute) {
    node.attributes.erase(attribute.name);
    const Outcome without(node);
    EXPECT_TRUE(without.message.find(attribute.name) != std::string::npos ||
                find(withoutEffect(), fact_.listName(), attribute.name))
        << node.toString() << "\n  must be refused, as " << attribute.name << " is required: " << without.message;
  }

  void tryOthers(const DrawnNode& node, const Outcome& base, const AttributeFact& attribute, const std::string& value) {
    std::map<std::string, std::string> made;  // model to value
    made[base.text] = value;
    size_t same = 0, refusals = 0;
    std::string messages;
    for (const std::string& candidate : otherValues(fact_, attribute, value)) {
      DrawnNode other = node;
      other.attributes[attribute.name] = candidate;
      const Outcome outcome(other);
      if (!outcome.model) {
        ++refusals;
        messages += "\n  " + outcome.message;
        EXPECT_NE(outcome.message.find(attribute.name), std::string::npos)
            << other.toString() << "\n  is refused without the name of " << attribute.name << ": " << outcome.message;
        continue;
      }
      const auto [before, isNew] = made.emplace(outcome.text, candidate);
      if (!isNew) ++same;
      if (!isNew && !attribute.words.empty() && !find(synonyms(), fact_.listName(), candidate))
        ADD_FAILURE() << other.toString() << "\n  means the same as " << before->second;
      if (isNew) checkField(*base.model, *outcome.model, attribute, candidate);
    }
    if (made.size() > 1) ++counts.changed;
    if (made.size() > 1) return;
    const bool isKnown = same > 0 ? find(withoutEffect(), fact_.listName(), attribute.name) != nullptr
                                  : isOfRuntime() || find(refused(), fact_.listName(), attribute.name);
    ++counts.refused;
    EXPECT_TRUE(isKnown) << node.toString() << "\n  " << attribute.name
                         << (same > 0 ? " changes nothing" : " can have no other value") << messages;
  }

  /// The changed fields and constants have the attribute's name and value, or a list says what else changes.
  void checkField(const Model& base, const Model& model, const AttributeFact& attribute, const std::string& value) {
    const auto changes = changedValues(base, model);
    const bool isNamed =
        !changes.empty() && (areOf({attribute.name}, changes) ||
                             find(fields(), fact_.listName(), attribute.name,
                                  [&](const Departure& alias) { return areOf(splitAt('|', alias.reason), changes); }));
    const bool isRight =
        isNamed && (std::ranges::all_of(
                        changes, [&](const auto& change) { return holdsValue(change.second, attribute, value); }) ||
                    find(converted(), fact_.listName(), attribute.name));
    counts.fields += isRight ? changes.size() : 0;
    if (isRight) return;
    ++counts.elsewhere;
    std::string found = changes.empty() ? " nodes or connections" : "";
    for (const auto& [name, json] : changes) found += fmt::format(" {}={}", name, json.dump());
    EXPECT_TRUE(find(elsewhere(), fact_.listName(), attribute.name))
        << fact_.type << "-" << opset_ << ": " << attribute.name << "=" << value << " changes" << found;
  }

  template <class Changes>
  static bool areOf(const std::vector<std::string>& names, const Changes& changes) {
    return std::ranges::all_of(changes, [&](const auto& change) {
      return std::ranges::any_of(names,
                                 [&](const std::string& name) { return plainName(name) == plainName(change.first); });
    });
  }

  /// Absent at the end of the list, absent as an empty name, present.
  void tryInput(size_t i) {
    ++counts.inputs;
    const std::string& name = fact_.inputs[i].name;
    DrawnNode node = exampleOf(fact_, opset_, name);
    if (i < node.inputs.size()) node.inputs[i].clear();
    while (!node.inputs.empty() && node.inputs.back().empty()) node.inputs.pop_back();
    const Outcome shorter(node);
    node.inputs.resize(std::max(node.inputs.size(), i + 1));
    const Outcome empty(node);
    EXPECT_TRUE(shorter == empty) << node.toString() << "\n  an empty name differs from an absent input "
                                  << shorter.message << empty.message;
    node.inputs[i] = fact_.inputs[i].type();
    const Outcome present(node);
    const bool isRefused = !present.model && (isOfRuntime() ? present.message.find(name) != std::string::npos
                                                            : find(refused(), fact_.listName(), name) != nullptr);
    const bool isSame = present == shorter && !find(withoutEffect(), fact_.listName(), name);
    EXPECT_TRUE(!isSame && (present.model || isRefused))
        << node.toString() << "\n  input " << name << (isSame ? " changes nothing" : " is refused: " + present.message);
  }

  /// OpKit takes a part of ONNX Runtime's operators, which grow: what it refuses by name needs no departure.
  bool isOfRuntime() const { return fact_.domain == "com.microsoft"; }

  void tryForeign(DrawnNode node, const std::string& name) {
    if (name == "consumed_inputs") return;
    node.attributes[name] = "1";
    node.attributeTypes[name] = "int";
    const Outcome outcome(node);
    EXPECT_NE(outcome.message.find("'" + name + "' is not supported"), std::string::npos)
        << node.toString() << "\n  must be refused, as this version has no " << name << ": " << outcome.message;
  }

  const OperatorFact& fact_;
  int opset_;
};

std::set<std::string> attributesOf(const std::string& ruleName) {
  std::set<std::string> names;
  for (const OperatorFact& fact : operatorFacts())
    if (fact.ruleName() == ruleName)
      for (const AttributeFact& attribute : fact.attributes) names.insert(attribute.name);
  return names;
}

/// Opsets begin and end with versions of the operator; 1 and kAnyOpset are open ends.
void checkOpsets(const std::string& ruleName, const std::string& what, int first, int last) {
  const auto isAny = [&](const auto& holds) {
    return std::ranges::any_of(operatorFacts(),
                               [&](const OperatorFact& fact) { return fact.ruleName() == ruleName && holds(fact); });
  };
  EXPECT_TRUE(isAny([&](const OperatorFact& fact) { return fact.since <= last && first <= fact.until; }))
      << what << " of opsets " << first << " to " << last << " is not of the specification";
  EXPECT_TRUE(first == 1 || isAny([&](const OperatorFact& fact) { return fact.since == first; }))
      << what << ": no version begins with opset " << first;
  EXPECT_TRUE(last == kAnyOpset || isAny([&](const OperatorFact& fact) { return fact.until == last; }))
      << what << ": no version ends with opset " << last;
}

/// A rule that begins with a later version makes another model of a node than the rule before, where both take it: an
/// example of the last opset before, and one of the first.
void checkMeanings() {
  const auto& names = ops::builtinOnnxRules().names();
  for (const OperatorFact& fact : operatorFacts()) {
    const auto known = names.find(fact.ruleName());
    if (fact.isDeprecated || known == names.end()) continue;
    for (const OnnxRules::Entry& later : known->second.entries) {
      const int first = later.firstOpset;
      for (const int opset : {first - 1, first}) {
        if (!ops::builtinOnnxRules().find(fact.ruleName(), first - 1) || opset < fact.since || opset > fact.until)
          continue;
        DrawnNode node = exampleOf(fact, opset);
        node.opset = first - 1;
        const auto old = imported(node);
        node.opset = first;
        const auto now = imported(node);
        if (!old || !now) continue;
        ++counts.meanings;
        EXPECT_TRUE(textOf(*old) != textOf(*now) || find(sameModel(), fact.listName(), std::to_string(first)))
            << node.toString() << "\n  means the same as with opset " << first - 1 << ", which has another rule";
      }
    }
  }
}

/// Every rule of the domains that the table has is of the specification, with its attributes.
void checkRules() {
  std::set<std::string> domains;
  for (const OperatorFact& fact : operatorFacts()) domains.insert(fact.domain == "ai.onnx" ? "" : fact.domain + "::");
  for (const auto& [name, known] : ops::builtinOnnxRules().names()) {
    const size_t colons = name.find("::");
    if (!domains.contains(colons == std::string::npos ? "" : name.substr(0, colons + 2))) continue;
    const bool isKnown = std::ranges::count(operatorFacts(), name, &OperatorFact::ruleName) > 0;
    if (!isKnown && find(withoutRule(), name, "none")) continue;
    EXPECT_TRUE(isKnown) << name << " has no row in onnx_operators.tsv or contrib_operators.tsv";
    const std::set<std::string> all = attributesOf(name);
    for (const OnnxRules::Entry& entry : known.entries) {
      ++counts.rules;
      checkOpsets(name, name, entry.firstOpset, entry.lastOpset);
      for (const OnnxAttribute& attribute : entry.attributes) {
        EXPECT_TRUE(all.contains(attribute.name)) << name << " has no attribute " << attribute.name;
        checkOpsets(name, name + " " + attribute.name, attribute.firstOpset, attribute.lastOpset);
      }
    }
  }
}

TEST(Attributes, MeanWhatTheSpecificationSays) {
  std::map<std::string, int> newest;
  for (const OperatorFact& fact : operatorFacts()) newest[fact.domain] = std::max(newest[fact.domain], fact.since);
  for (const OperatorFact& fact : operatorFacts()) {
    const auto& names = ops::builtinOnnxRules().names();
    const auto rules = names.find(fact.ruleName());
    EXPECT_TRUE(fact.isDeprecated || rules != names.end() || find(withoutRule(), fact.listName(), "none"))
        << fact.ruleName() << " has no rule";
    if (fact.isDeprecated || rules == names.end()) continue;
    size_t tried = 0;
    const std::set<std::string> all = attributesOf(fact.ruleName());
    for (const OnnxRules::Entry& entry : rules->second.entries) {
      const int first = std::max(fact.since, entry.firstOpset),
                last = std::min({fact.until, entry.lastOpset, newest[fact.domain]});
      for (const int opset : std::set{first, last})
        if (first <= last) ++tried, Subject(fact, opset).run(all);
    }
    ++counts.versions;
    for (int opset = fact.since; tried > 0 && opset <= std::min(fact.until, newest[fact.domain]); ++opset)
      EXPECT_TRUE(ops::builtinOnnxRules().find(fact.ruleName(), opset)) << fact.ruleName() << " of opset " << opset;
    EXPECT_EQ(tried == 0, find(withoutRule(), fact.listName(), std::to_string(fact.since)) != nullptr)
        << fact.ruleName() << "-" << fact.since << " has " << tried << " rules";
  }
  checkRules();
  checkMeanings();
  std::cout << counts.rules << " rules, " << counts.versions << " versions, " << counts.attributes
            << " attributes, of which " << counts.changed << " change the model and " << counts.refused << " cannot, "
            << counts.fields << " fields and constants, " << counts.elsewhere << " elsewhere, " << counts.inputs
            << " optional inputs, " << counts.defaults << " defaults written at once, " << counts.meanings
            << " changes of meaning, " << counts.imports << " imports\n";
  EXPECT_GT(counts.rules, 290u);
  EXPECT_GT(counts.versions, 650u);
  EXPECT_GT(counts.changed, 2200u);
  EXPECT_GT(counts.fields, 6500u);
  EXPECT_GT(counts.inputs, 400u);
  EXPECT_GT(counts.defaults, 1000u);
  EXPECT_GT(counts.meanings, 40u);
  EXPECT_EQ(unused(), "") << "entries of departures.cpp that no operator needs";
}

}  // namespace
}  // namespace attributes_test
}  // namespace opkit::fuzz
