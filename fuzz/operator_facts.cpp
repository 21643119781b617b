#include "fuzz/operator_facts.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "engine/base/checked_file.h"

namespace opkit::fuzz {
namespace {

Result<AttributeFact> attributeOfFacts(const std::string& text) {
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

Result<InputFact> inputFrom(const std::string& text) {
  const size_t colon = text.find(':');
  if (colon == std::string::npos) return Status::invalidArgument("expected name:type, found '{}'", text);
  InputFact fact{text.substr(0, colon), text.substr(colon + 1)};
  fact.isOptional = text.ends_with('?');
  fact.isVariadic = text.ends_with('*');
  if (fact.isOptional || fact.isVariadic) fact.type.pop_back();
  return fact;
}

Result<OperatorFact> operatorFrom(const std::string& line) {
  std::vector<std::string> columns = splitAt('\t', line);
  if (columns.size() < 5) return Status::invalidArgument("expected 5 columns or more, found '{}'", line);
  columns.resize(6);
  OperatorFact fact{.domain = columns[0], .type = columns[1]};
  fact.since = std::atoi(columns[2].c_str());
  for (const std::string& input : splitAt(' ', columns[3])) {
    OPKIT_ASSIGN(fact.inputs.emplace_back(), inputFrom(input));
  }
  fact.isDeprecated = columns[4] == "0";
  fact.outputs = static_cast<size_t>(std::max(std::atoi(columns[4].c_str()), 1));
  for (const std::string& attribute : splitAt(' ', columns[5])) {
    OPKIT_ASSIGN(fact.attributes.emplace_back(), attributeOfFacts(attribute));
  }
  return fact;
}

}  // namespace

std::vector<std::string> splitAt(char separator, const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

const AttributeFact* OperatorFact::find(const std::string& attribute) const {
  const auto found = std::ranges::find(attributes, attribute, &AttributeFact::name);
  return found == attributes.end() ? nullptr : &*found;
}

Result<std::vector<OperatorFact>> readOperatorFacts(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Status::invalidArgument("{}: cannot be read", path);
  std::vector<OperatorFact> facts;
  LineReader lines(file, path);
  while (lines.next()) {
    if (lines.line().starts_with('#')) continue;
    OPKIT_ASSIGN(OperatorFact fact, operatorFrom(lines.line()));
    if (!facts.empty() && facts.back().ruleName() == fact.ruleName()) facts.back().until = fact.since - 1;
    facts.push_back(std::move(fact));
  }
  OPKIT_TRY(lines.status());
  return facts;
}

}  // namespace opkit::fuzz
