// DrawnNode: one ONNX node as text, and what the importer makes of it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/model/model.h"
#include "harness/export/operator_facts.h"

namespace opkit::fuzz {

struct DrawnNode {
  std::string domain;
  std::string type;
  int opset = 1;
  /// Values by name, each written as in onnx_operators.tsv. A tensor is its type and elements, "float:1,2"; a graph is
  /// an operator that it applies to each of its inputs, their number and how many of the results it drops: "Neg:2:1".
  std::map<std::string, std::string> attributes;
  std::map<std::string, std::string> attributeTypes;
  std::vector<std::string> inputs;     // their types; "" is an absent one
  std::map<size_t, size_t> constants;  // elements of the inputs that are constants
  size_t outputs = 1;

  std::string toString() const;
};

/// The importer's answer.
Result<Model> importNode(const DrawnNode& node);
std::string textOf(const Tensor& tensor);
/// The nodes of a model with the bytes of parameters and constants. Inputs that no node reads leave no trace.
std::string textOf(const Model& model);

}  // namespace opkit::fuzz
