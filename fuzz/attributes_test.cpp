// Every ONNX rule against the specification (onnx_operators.tsv), in every version of its operators: an attribute that
// is absent means the same as one written out at its default, another value changes the model or is refused by name, an
// attribute of another version is refused, and optional inputs count.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <set>

#include "engine/import/onnx/onnx_dtype.h"
#include "engine/op/op_registry.h"
#include "fuzz/import_examples.h"
#include "ops/builtin_ops.h"

namespace opkit::fuzz {
namespace attributes_test {
namespace {

struct Counts {
  size_t rules = 0, versions = 0, attributes = 0, changed = 0, refused = 0, fields = 0, inputs = 0, imports = 0;
};

Counts counts;

Result<Model> imported(const DrawnNode& node) {
  ++counts.imports;
  return importNode(node);
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
  }
  bool operator==(const Outcome& other) const { return text == other.text && message == other.message; }
};

/// The stored fields of parameters, by name.
std::map<std::string, std::string> fieldsOf(const ModelNode& node) {
  const OpDef* def = ops::builtinOps().find(node.type);
  const std::string json = def ? paramsToJson(def->params, node.params) : "{}";
  std::map<std::string, std::string> fields;
  std::string field;
  int depth = 0;
  bool isQuoted = false;
  for (const char c : json) {
    if (c == '"') isQuoted = !isQuoted;
    if (!isQuoted && (c == '{' || c == '[')) ++depth;
    if (!isQuoted && (c == '}' || c == ']')) --depth;
    const bool isEnd = depth == 0 || (c == ',' && depth == 1 && !isQuoted);
    if (isEnd && field.find(':') != std::string::npos)
      fields[field.substr(0, field.find(':'))] = field.substr(field.find(':') + 1);
    if (isEnd || (c == '{' && depth == 1))
      field.clear();
    else if (c != ' ' || isQuoted)
      field += c;
  }
  return fields;
}

std::string plain(const std::string& name) {
  std::string letters;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)))
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return letters;
}

/// The parameter fields that differ, as name=value of `b`; nothing if more differs than the parameters of one node.
std::vector<std::pair<std::string, std::string>> changedFields(const Model& a, const Model& b) {
  std::vector<std::pair<std::string, std::string>> changed;
  if (a.nodes.size() != b.nodes.size()) return changed;
  size_t nodes = 0;
  for (size_t n = 0; n < a.nodes.size(); ++n) {
    if (a.nodes[n].type != b.nodes[n].type) return {};
    if (a.nodes[n].params == b.nodes[n].params) continue;
    if (++nodes > 1) return {};
    auto before = fieldsOf(a.nodes[n]);
    const auto after = fieldsOf(b.nodes[n]);
    for (const auto& [name, value] : after)
      if (before[name] != value) changed.emplace_back(name, value);
    for (const auto& [name, value] : before)
      if (!after.contains(name)) changed.emplace_back(name, "");
  }
  return changed;
}

/// The constant that alone differs, by its name behind the node's; "" if something else does. Constant is a constant
/// itself, and operators of ai.onnx.ml pack theirs.
std::string changedConstant(const Model& a, const Model& b) {
  if (a.tensors.size() != b.tensors.size() || a.nodes.empty() || a.nodes.size() != b.nodes.size()) return "";
  for (size_t n = 0; n < a.nodes.size(); ++n)
    if (a.nodes[n].type != b.nodes[n].type || a.nodes[n].params != b.nodes[n].params) return "";
  std::vector<std::string> changed;
  for (size_t t = 0; t < a.tensors.size(); ++t) {
    const auto &before = a.tensors[t].constant, &after = b.tensors[t].constant;
    if (before.has_value() != after.has_value()) return "";
    if (before && textOf(*before) != textOf(*after)) changed.push_back(a.tensors[t].name);
  }
  return changed.size() == 1 ? changed[0].substr(changed[0].rfind('/') + 1) : "";
}

/// One version of an operator at one opset.
class Subject {
 public:
  Subject(const OperatorFact& fact, int opset) : fact_(fact), opset_(opset) {}

  void run(const std::set<std::string>& ofOtherVersions) {
    const DrawnNode base = exampleOf(fact_, opset_);
    const Outcome outcome(base);
    if (find(refused(), fact_.type, "*")) return;
    EXPECT_TRUE(outcome.model) << base.toString() << "\n  must be imported: " << outcome.message;
    if (!outcome.model) return;
    for (const AttributeFact& attribute : fact_.attributes) tryAttribute(attribute);
    for (size_t i = 0; i < fact_.inputs.size(); ++i)
      if (fact_.inputs[i].isOptional) tryInput(i);
    for (const std::string& name : ofOtherVersions)
      if (!fact_.find(name)) tryForeign(base, name);
  }

 private:
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
      EXPECT_TRUE(absent == written || find(otherBytes(), fact_.type, attribute.name))
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
      for (const auto& [name, value] : changedFields(*a.model, *b.model))
        text += fmt::format("\n  {} is {}", name, value);
    return text;
  }

  /// A model without a required attribute is refused by its name.
  void tryWithout(DrawnNode node, const AttributeFact& attribute) {
    node.attributes.erase(attribute.name);
    const Outcome without(node);
    EXPECT_TRUE(without.message.find(attribute.name) != std::string::npos ||
                find(withoutEffect(), fact_.type, attribute.name))
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
      if (!isNew && !attribute.words.empty() && !find(synonyms(), fact_.type, candidate))
        ADD_FAILURE() << other.toString() << "\n  means the same as " << before->second;
      if (isNew) checkField(*base.model, *outcome.model, attribute, candidate);
    }
    if (made.size() > 1) ++counts.changed;
    if (made.size() > 1) return;
    const bool isKnown = same > 0 ? find(withoutEffect(), fact_.type, attribute.name) != nullptr
                                  : find(refused(), fact_.type, attribute.name) != nullptr;
    ++counts.refused;
    EXPECT_TRUE(isKnown) << node.toString() << "\n  " << attribute.name
                         << (same > 0 ? " changes nothing" : " can have no other value") << messages;
  }

  /// Whether a field, as JSON, has the value of an attribute. "" is the default.
  static bool isValue(const std::string& json, const std::string& value) {
    std::string bare;
    for (const char c : json)
      if (c != '"' && c != '[' && c != ']') bare += c;
    if (json.empty() || bare == value) return true;
    if (json == "true" || json == "false") return (std::atoi(value.c_str()) != 0) == (json == "true");
    const std::string word = plain(value), found = plain(json);
    if (json[0] == '"') return found.find(word) != std::string::npos || word.find(found) != std::string::npos;
    return json[0] != '[' && std::stof(json) == std::stof(value);
  }

  /// Whether an integer attribute numbers element types as ONNX does.
  static bool isNumberedType(const AttributeFact& attribute) {
    const std::set<std::string> names{"dtype", "output_datatype", "output_dtype", "precision", "to"};
    return attribute.type == "int" && names.contains(attribute.name);
  }

  /// Whether a field, as JSON, is the number or the name of that type.
  static bool isType(const std::string& json, const std::string& value) {
    const Result<DType> dtype = dtypeFromOnnx(std::stoll(value));
    if (!dtype || json.empty()) return json.empty();
    return json == std::to_string(static_cast<int>(*dtype)) || json == fmt::format("\"{}\"", nameOf(*dtype));
  }

  /// The value stands in the field, or in the constant, of the attribute's name.
  void checkField(const Model& base, const Model& model, const AttributeFact& attribute, const std::string& value) {
    const Exception* alias = find(fields(), fact_.type, attribute.name);
    std::vector<std::string> expected;
    for (const std::string& name : splitAt('|', alias ? alias->reason : attribute.name))
      expected.push_back(plain(name));
    const auto isExpected = [&](const std::string& name) { return std::ranges::count(expected, plain(name)) > 0; };
    const auto changed = changedFields(base, model);
    const bool isRight = std::ranges::all_of(changed, [&](const auto& field) { return isExpected(field.first); });
    const bool isSame = std::ranges::all_of(changed,
                                            [&](const auto& field) {
                                              return isNumberedType(attribute) ? isType(field.second, value)
                                                                               : isValue(field.second, value);
                                            }) ||
                        find(converted(), fact_.type, attribute.name);
    const std::string constant = fact_.domain == "ai.onnx" ? changedConstant(base, model) : "";
    counts.fields += changed.size();
    std::string found = constant;
    for (const auto& [name, text] : changed) found += fmt::format(" {}={}", name, text);
    EXPECT_TRUE(isRight && isSame && (constant.empty() || isExpected(constant)))
        << fact_.type << "-" << opset_ << ": " << attribute.name << "=" << value << " changes " << found;
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
    node.inputs[i] = fact_.inputs[i].type;
    const Outcome present(node);
    const bool isRefused = !present.model && find(refused(), fact_.type, name);
    const bool isSame = present == shorter && !find(withoutEffect(), fact_.type, name);
    EXPECT_TRUE(!isSame && (present.model || isRefused))
        << node.toString() << "\n  input " << name << (isSame ? " changes nothing" : " is refused: " + present.message);
  }

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

/// The versions of the operators in the order of the file.
const std::vector<OperatorFact>& facts() {
  static const std::vector<OperatorFact> facts = [] {
    auto read = readOperatorFacts(OPKIT_SOURCE_DIR "/fuzz/onnx_operators.tsv");
    EXPECT_TRUE(read) << read.error().toString();
    return read ? *std::move(read) : std::vector<OperatorFact>();
  }();
  return facts;
}

std::set<std::string> attributesOf(const std::string& ruleName) {
  std::set<std::string> names;
  for (const OperatorFact& fact : facts())
    if (fact.ruleName() == ruleName)
      for (const AttributeFact& attribute : fact.attributes) names.insert(attribute.name);
  return names;
}

/// Every rule of the domains that the table has lists attributes of the specification only.
void checkRules() {
  std::set<std::string> domains;
  for (const OperatorFact& fact : facts()) domains.insert(fact.domain == "ai.onnx" ? "" : fact.domain + "::");
  for (const auto& [name, known] : ops::builtinOnnxRules().names()) {
    const size_t colons = name.find("::");
    if (!domains.contains(colons == std::string::npos ? "" : name.substr(0, colons + 2))) continue;
    if (find(withoutRule(), name, "none")) continue;
    const std::set<std::string> all = attributesOf(name);
    for (const OnnxRules::Entry& entry : known.entries) {
      ++counts.rules;
      const auto isOf = [&](const OperatorFact& fact) {
        return fact.ruleName() == name && fact.since <= entry.lastOpset && entry.firstOpset <= fact.until;
      };
      EXPECT_TRUE(std::ranges::any_of(facts(), isOf))
          << name << "-" << entry.firstOpset << " is not of the specification";
      for (const OnnxAttribute& attribute : entry.attributes)
        EXPECT_TRUE(all.contains(attribute.name)) << name << " has no attribute " << attribute.name;
    }
  }
}

TEST(Attributes, MeanWhatTheSpecificationSays) {
  std::map<std::string, int> newest;
  for (const OperatorFact& fact : facts()) newest[fact.domain] = std::max(newest[fact.domain], fact.since);
  for (const OperatorFact& fact : facts()) {
    const auto& names = ops::builtinOnnxRules().names();
    const auto rules = names.find(fact.ruleName());
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
    EXPECT_EQ(tried == 0, find(withoutRule(), fact.type, std::to_string(fact.since)) != nullptr)
        << fact.ruleName() << "-" << fact.since << " has " << tried << " rules";
  }
  checkRules();
  std::cout << counts.rules << " rules, " << counts.versions << " versions, " << counts.attributes
            << " attributes, of which " << counts.changed << " change the model and " << counts.refused << " cannot, "
            << counts.fields << " fields, " << counts.inputs << " optional inputs, " << counts.imports << " imports\n";
  EXPECT_GT(counts.rules, 250u);
  EXPECT_GT(counts.versions, 600u);
  EXPECT_GT(counts.changed, 2000u);
  EXPECT_GT(counts.inputs, 300u);
  EXPECT_EQ(unused(), "") << "exceptions that no operator needs";
}

}  // namespace
}  // namespace attributes_test
}  // namespace opkit::fuzz
