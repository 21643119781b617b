// Facts of the ONNX specification (onnx_operators.tsv) and of ONNX Runtime (contrib_operators.tsv) for tests of the
// importer: what a node of each version of an operator may hold.
#pragma once

#include <climits>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/status.h"

namespace opkit::fuzz {

struct AttributeFact {
  std::string name;
  std::string type;  // int, float, string, ints, floats, strings, tensor, sparse, graph, type
  bool isRequired = false;
  std::optional<std::string> fallback;
  std::vector<std::string> words;  // that a string may be; empty: any
};

struct InputFact {
  std::string name;
  std::string type;  // one that it may have: float, int64, seq(tensor(uint8)), ...
  bool isOptional = false;
  bool isVariadic = false;
};

struct OperatorFact {
  std::string domain;
  std::string type;
  int since = 1;
  int until = INT_MAX;  // the opset before the next version
  std::vector<InputFact> inputs;
  size_t outputs = 1;  // the fewest, but one
  bool isDeprecated = false;
  std::vector<AttributeFact> attributes;

  /// As a rule is named: domain::Type, without the domain ai.onnx.
  std::string ruleName() const { return domain == "ai.onnx" ? type : domain + "::" + type; }
  /// As departures.cpp and the examples name it. Types of com.microsoft are also those of other domains.
  std::string listName() const { return domain == "com.microsoft" ? ruleName() : type; }
  const AttributeFact* find(const std::string& attribute) const;
};

std::vector<std::string> splitAt(char separator, const std::string& text);

/// Every version of every operator, versions of one operator in order.
Result<std::vector<OperatorFact>> readOperatorFacts(const std::string& path);

}  // namespace opkit::fuzz
