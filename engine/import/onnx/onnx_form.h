// OnnxForm: a node of OpKit as a node of ONNX. A rule of onnx_rules.h reads nodes of ONNX; its inverse writes them.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/base/status.h"
#include "engine/op/params.h"
#include "engine/tensor/tensor.h"

namespace opkit {

/// A node of OpKit that is to be written.
struct OpNode {
  std::string type;
  ParamBytes params;
  std::vector<std::optional<TensorDesc>> inputs;  // nullopt: absent
  std::vector<const Tensor*> constants;           // by input; null or beyond the end: computed
  size_t outputs = 1;
};

/// The value of an input that is a constant; else null.
inline const Tensor* constantOf(const OpNode& node, size_t input) {
  return input < node.constants.size() ? node.constants[input] : nullptr;
}

/// The value of an attribute.
using OnnxValue = std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<float>,
                               std::vector<std::string>, Tensor>;

/// An input of a node of ONNX: none, one of the OpNode by its number, or a constant.
using OnnxInput = std::variant<std::monostate, size_t, Tensor>;

/// A node of ONNX whose outputs are those of the OpNode.
struct OnnxForm {
  std::string type;  // as rules are named: "Relu", "com.microsoft::Gelu"
  int opset = 1;     // of its domain
  std::map<std::string, OnnxValue> attributes;
  std::vector<OnnxInput> inputs;
};

/// The inverse of a rule.
struct OnnxInverse {
  std::vector<std::string> types;  // of OpKit, that the rule makes
  /// Sets the attributes of a form, and its inputs if they are not those of the node. Unsupported says which parameter
  /// ONNX's operator does not have.
  std::function<Status(const OpNode& node, OnnxForm& form)> write;
};

}  // namespace opkit
