// NodeBound: of a model with one node, how far a right result may be from an expected one of the same precision.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/model/model.h"
#include "harness/compare/tolerance.h"

namespace opkit::harness {

class NodeBound {
 public:
  /// Nothing if the model has other than one node, or a node without an oracle.
  static std::optional<NodeBound> of(const Model& model, const OpRegistry& registry);

  /// Widens `tolerance`, that of output `index` of the model, for each element whose expected value is within the
  /// bound of the operator's card about the oracle's: results may then be as far from the oracle's. Elements with
  /// another expected value keep their tolerance. `given` are the model's inputs by name. Leaves it as it is where the
  /// oracle gives nothing.
  void widen(const std::map<std::string, Tensor>& given, size_t index, const OracleTensor& expected,
             Tolerance& tolerance) const;

 private:
  struct Input {
    std::string name;                // of an input of the model; empty if constant or absent
    std::optional<Tensor> constant;  // else absent, without a name
  };

  const OpDef* def_ = nullptr;
  ParamBytes params_;
  std::vector<Input> inputs_;
  std::vector<size_t> outputs_;  // of the node, by output of the model
  size_t outputCount_ = 0;
};

}  // namespace opkit::harness
