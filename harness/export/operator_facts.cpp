#include "harness/export/operator_facts.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>

#include "engine/base/check.h"

namespace opkit::harness {

extern const char* const kOnnxOperators;     // onnx_operators.tsv, embedded by the build
extern const char* const kContribOperators;  // contrib_operators.tsv

namespace {

enum FactColumn { kDomain, kOperator, kSince, kInputs, kOutputs, kAttributes, kTypes, kFactColumns };

constexpr const char* kDeprecated = "-";

using TypeLists = std::map<std::string, std::vector<std::string>>;  // of sets or variables, by name

/// At commas outside parentheses: map(int64,string) is one type.
std::vector<std::string> splitTypeList(std::string_view text) {
  std::vector<std::string> types(1);
  int depth = 0;
  for (const char c : text) {
    depth += (c == '(') - (c == ')');
    if (c == ',' && depth == 0)
      types.emplace_back();
    else
      types.back() += c;
  }
  return types;
}

Result<std::vector<std::string>> expandTypeList(std::string_view text, const TypeLists& sets) {
  std::vector<std::string> types;
  for (const std::string& part : splitTypeList(text)) {
    if (part.empty()) return Status::invalidArgument("expected types with commas between them, found '{}'", text);
    std::vector<std::string> added{part};
    if (part.starts_with('@')) {
      const auto known = sets.find(part);
      if (known == sets.end()) return Status::invalidArgument("no line above defines the set {}", part);
      added = known->second;
    }
    for (const std::string& type : added)
      if (std::ranges::find(types, type) == types.end()) types.push_back(type);
  }
  return types;
}

bool isVariableName(const std::string& text) { return !text.empty() && text[0] >= 'A' && text[0] <= 'Z'; }

Result<TypeLists> variablesOfFact(const std::string& column, const TypeLists& sets) {
  TypeLists variables;
  for (const std::string& part : splitAt(' ', column)) {
    const size_t equals = part.find('=');
    const std::string name = part.substr(0, equals);
    if (equals == std::string::npos || !isVariableName(name))
      return Status::invalidArgument("expected Variable=types, found '{}'", part);
    OPKIT_ASSIGN(std::vector<std::string> types, expandTypeList(std::string_view(part).substr(equals + 1), sets));
    if (!variables.emplace(name, std::move(types)).second)
      return Status::invalidArgument("variable {} is defined twice", name);
  }
  return variables;
}

Result<AttributeFact> parseAttributeFact(const std::string& text) {
  const size_t colon = text.find(':'), open = text.find('{'), equals = text.find('=');
  if (colon == std::string::npos) return Status::invalidArgument("expected name:type, found '{}'", text);
  AttributeFact fact;
  fact.name = text.substr(0, colon);
  const std::string head = text.substr(0, open);
  fact.isRequired = head.ends_with('!');
  fact.type = head.substr(colon + 1, std::min(equals, head.size() - (fact.isRequired ? 1 : 0)) - colon - 1);
  if (equals != std::string::npos) fact.fallback = head.substr(equals + 1);
  if (open != std::string::npos) fact.words = splitAt(',', text.substr(open + 1, text.size() - open - 2));
  return fact;
}

Result<PortFact> parsePortFact(const std::string& text, const TypeLists& variables) {
  const size_t colon = text.find(':');
  PortFact fact{.name = text.substr(0, colon), .isOptional = text.ends_with('?'), .isVariadic = text.ends_with('*')};
  std::string type = colon == std::string::npos ? "" : text.substr(colon + 1);
  if (fact.isOptional || fact.isVariadic) type = type.substr(0, type.empty() ? 0 : type.size() - 1);
  if (fact.name.empty() || type.empty()) return Status::invalidArgument("expected name:type, found '{}'", text);
  if (!isVariableName(type)) {
    fact.types = {type};
    return fact;
  }
  const auto known = variables.find(type);
  if (known == variables.end()) return Status::invalidArgument("{} has the unknown variable {}", fact.name, type);
  fact.types = known->second;
  fact.variable = type;
  return fact;
}

Result<OperatorFact> parseOperatorFact(const std::string& line, const TypeLists& sets) {
  std::vector<std::string> columns = splitAt('\t', line);
  if (columns.size() <= kOutputs || columns.size() > kFactColumns)
    return Status::invalidArgument("expected {} to {} columns, found {}", kOutputs + 1, +kFactColumns, columns.size());
  columns.resize(kFactColumns);
  OperatorFact fact{.domain = columns[kDomain], .type = columns[kOperator]};
  const std::string& since = columns[kSince];
  const auto [end, error] = std::from_chars(since.data(), since.data() + since.size(), fact.since);
  if (error != std::errc() || end != since.data() + since.size() || fact.since < 1)
    return Status::invalidArgument("expected a version, found '{}'", since);
  OPKIT_ASSIGN(const TypeLists variables, variablesOfFact(columns[kTypes], sets));
  for (const std::string& input : splitAt(' ', columns[kInputs])) {
    OPKIT_ASSIGN(fact.inputs.emplace_back(), parsePortFact(input, variables));
  }
  fact.isDeprecated = columns[kOutputs] == kDeprecated;
  if (!fact.isDeprecated && columns[kOutputs].empty()) return Status::invalidArgument("expected outputs or '-'");
  for (const std::string& output : splitAt(' ', fact.isDeprecated ? "" : columns[kOutputs])) {
    OPKIT_ASSIGN(fact.outputs.emplace_back(), parsePortFact(output, variables));
  }
  for (const std::string& attribute : splitAt(' ', columns[kAttributes])) {
    OPKIT_ASSIGN(fact.attributes.emplace_back(), parseAttributeFact(attribute));
  }
  return fact;
}

Status addTypeSet(const std::string& line, TypeLists& sets) {
  const size_t tab = line.find('\t');
  if (tab == std::string::npos) return Status::invalidArgument("expected a set's name, a tab and types");
  OPKIT_ASSIGN(std::vector<std::string> types, expandTypeList(std::string_view(line).substr(tab + 1), sets));
  if (!sets.emplace(line.substr(0, tab), std::move(types)).second)
    return Status::invalidArgument("the set is defined twice");
  return Status::ok();
}

Status addOperatorFact(const std::string& line, const TypeLists& sets, std::vector<OperatorFact>& facts) {
  OPKIT_ASSIGN(OperatorFact fact, parseOperatorFact(line, sets));
  if (!facts.empty() && facts.back().ruleName() == fact.ruleName()) {
    if (fact.since <= facts.back().since)
      return Status::invalidArgument("expected a version after {}", facts.back().since);
    facts.back().until = fact.since - 1;
  }
  facts.push_back(std::move(fact));
  return Status::ok();
}

}  // namespace

std::vector<std::string> splitAt(char separator, const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

size_t OperatorFact::fewestOutputs() const {
  size_t fewest = 1;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (!outputs[i].isOptional && !outputs[i].isVariadic) fewest = i + 1;
  return fewest;
}

const AttributeFact* OperatorFact::find(const std::string& attribute) const {
  const auto found = std::ranges::find(attributes, attribute, &AttributeFact::name);
  return found == attributes.end() ? nullptr : &*found;
}

Result<std::vector<OperatorFact>> parseOperatorFacts(std::string_view text) {
  std::vector<OperatorFact> facts;
  TypeLists sets;
  for (const std::string& line : splitAt('\n', std::string(text))) {
    if (line.starts_with('#')) continue;
    const Status status = line.starts_with('@') ? addTypeSet(line, sets) : addOperatorFact(line, sets, facts);
    if (!status.isOk()) return Status::invalidArgument("row '{}': {}", line, status.message());
  }
  return facts;
}

const std::vector<OperatorFact>& operatorFacts() {
  static const std::vector<OperatorFact> facts = [] {
    std::vector<OperatorFact> all;
    for (const char* table : {kOnnxOperators, kContribOperators}) {
      auto parsed = parseOperatorFacts(table);
      OPKIT_CHECK(parsed.has_value());
      std::ranges::move(*parsed, std::back_inserter(all));
    }
    return all;
  }();
  return facts;
}

const OperatorFact* factFor(const std::string& domain, const std::string& type, int opset) {
  const std::string full = domain.empty() ? "ai.onnx" : domain;
  const auto found = std::ranges::find_if(operatorFacts(), [&](const OperatorFact& fact) {
    return fact.type == type && fact.domain == full && fact.since <= opset && opset <= fact.until;
  });
  return found == operatorFacts().end() ? nullptr : &*found;
}

}  // namespace opkit::harness
