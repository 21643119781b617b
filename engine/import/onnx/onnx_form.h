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
  std::vector<const Tensor*> values;              // of inputs, as far as known; null or beyond the end: unknown
  std::vector<bool> isConstant;                   // by input; beyond the end: computed
  size_t outputs = 1;
};

/// The value of an input, which a form may have as an attribute; null if it is absent or unknown.
inline const Tensor* valueOf(const OpNode& node, size_t input) {
  return input < node.values.size() ? node.values[input] : nullptr;
}

/// The same of an input that is a constant.
inline const Tensor* constantOf(const OpNode& node, size_t input) {
  return input < node.isConstant.size() && node.isConstant[input] ? valueOf(node, input) : nullptr;
}

/// The value of an attribute.
using OnnxValue = std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<float>,
                               std::vector<std::string>, Tensor>;

/// An input of a node of ONNX: none, one of the OpNode by its number, or a constant.
using OnnxInput = std::variant<std::monostate, size_t, Tensor>;

/// An output of a node of ONNX: one of the OpNode by its number, or its first slices. Output `count` of the OpNode
/// holds their number.
struct OnnxOutput {
  size_t number = 0;
  std::optional<size_t> count = std::nullopt;
  size_t axis = 0;
};

/// A node of ONNX.
struct OnnxForm {
  std::string type;  // as rules are named: "Relu", "com.microsoft::Gelu"
  int opset = 1;     // of its domain
  std::map<std::string, OnnxValue> attributes;
  std::vector<OnnxInput> inputs;
  std::vector<OnnxOutput> outputs;  // empty: those of the OpNode
};

/// The inverse of a rule.
struct OnnxInverse {
  std::vector<std::string> types;  // of OpKit, that the rule makes
  /// Sets the attributes of a form, and its inputs if they are not those of the node. Unsupported says which parameter
  /// ONNX's operator does not have.
  std::function<Status(const OpNode& node, OnnxForm& form)> write;
};

}  // namespace opkit
