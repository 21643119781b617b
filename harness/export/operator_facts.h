// Facts of the ONNX specification (onnx_operators.tsv) and of ONNX Runtime (contrib_operators.tsv): what a node of each
// version of an operator may hold. For writers of ONNX nodes and for tests of the importer.
//
// All functions may be called from any thread.
#pragma once

#include <climits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/status.h"

namespace opkit::harness {

struct AttributeFact {
  std::string name;
  std::string type;  // int, float, string, ints, floats, strings, tensor, sparse, graph, type
  bool isRequired = false;
  std::optional<std::string> fallback;
  std::vector<std::string> words;  // that a string may be; empty: any
};

/// An input or an output.
struct PortFact {
  std::string name;
  bool isOptional = false;
  bool isVariadic = false;
  /// All that it may have, at least one: float, int64, seq(tensor(uint8)), map(int64,string), ... Inputs and outputs
  /// with the same variable have the same type in a node, save those of a variadic one that holds types of its own
  /// (Loop).
  std::vector<std::string> types;
  std::string variable;  // "T1"; empty if there is one type alone

  /// One that it may have, the first of its row: float if that is among them, but for MatMulNBits.
  const std::string& type() const { return types.front(); }
};

struct OperatorFact {
  std::string domain;
  std::string type;
  int since = 1;
  int until = INT_MAX;  // the opset before the next version
  std::vector<PortFact> inputs;
  std::vector<PortFact> outputs;
  bool isDeprecated = false;  // then without inputs, outputs and attributes
  std::vector<AttributeFact> attributes;

  /// As a rule is named: domain::Type, without the domain ai.onnx.
  std::string ruleName() const { return domain == "ai.onnx" ? type : domain + "::" + type; }
  /// As departures.cpp and the examples name it. Types of com.microsoft are also those of other domains.
  std::string listName() const { return domain == "com.microsoft" ? ruleName() : type; }
  /// The last output that a node must have, and all before it; but one at least.
  size_t fewestOutputs() const;
  const AttributeFact* find(const std::string& attribute) const;
};

/// The parts between separators; none of an empty text.
std::vector<std::string> splitAt(char separator, const std::string& text);

/// Every version of every operator of a table, versions of one operator in order. InvalidArgument names the first wrong
/// row.
Result<std::vector<OperatorFact>> parseOperatorFacts(std::string_view text);

/// Both tables of this build, the operators of the specification first.
const std::vector<OperatorFact>& operatorFacts();

/// The version of an operator that holds at an opset, which may be deprecated; null if there is none. The domain "" is
/// ai.onnx.
const OperatorFact* factFor(const std::string& domain, const std::string& type, int opset);

}  // namespace opkit::harness
