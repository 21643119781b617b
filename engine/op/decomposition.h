// Decomposition: an operator written as a few nodes of other operators, as OpDef::decompose builds it.
//
//   const auto square = parts.add("Mul", {parts.input(0), parts.input(0)});
//   parts.setOutput(0, parts.add("Neg", {square}));
//
// The encoder gives the parts tensors of their own and encodes them in the order of add(), lowering, decomposing and
// folding each in turn. A plain builder for one thread.
#pragma once

#include <vector>

#include "engine/op/params.h"
#include "engine/tensor/tensor.h"

namespace opkit {

class Decomposition {
 public:
  using Value = int;
  static constexpr Value kAbsent = -1;

  struct Part {
    std::string type;
    std::vector<Value> inputs;
    std::vector<Value> outputs;
    ParamBytes params;
  };

  Decomposition(size_t inputCount, size_t outputCount)
      : inputCount_(inputCount), valueCount_(static_cast<int>(inputCount)), outputs_(outputCount, kAbsent) {}

  /// The node's own input i.
  Value input(size_t i) const {
    OPKIT_CHECK(i < inputCount_);
    return static_cast<Value>(i);
  }
  /// A host value made for this node.
  Value constant(Tensor value) {
    constants_.emplace_back(valueCount_, std::move(value));
    return valueCount_++;
  }
  /// A part with several outputs; inputs may be kAbsent.
  std::vector<Value> add(std::string type, std::vector<Value> inputs, ParamBytes params, size_t outputCount) {
    std::vector<Value> made;
    for (size_t i = 0; i < outputCount; ++i) made.push_back(valueCount_++);
    parts_.push_back({std::move(type), std::move(inputs), made, std::move(params)});
    return made;
  }
  Value add(std::string type, std::vector<Value> inputs, ParamBytes params = {}) {
    return add(std::move(type), std::move(inputs), std::move(params), 1)[0];
  }
  /// REQUIRED for every output: its value.
  void setOutput(size_t i, Value value) { outputs_[i] = value; }

  size_t valueCount() const { return static_cast<size_t>(valueCount_); }
  const std::vector<Part>& parts() const { return parts_; }
  const std::vector<std::pair<Value, Tensor>>& constants() const { return constants_; }
  const std::vector<Value>& outputs() const { return outputs_; }

 private:
  size_t inputCount_;
  int valueCount_;
  std::vector<Part> parts_;
  std::vector<std::pair<Value, Tensor>> constants_;
  std::vector<Value> outputs_;
};

}  // namespace opkit
