// ControlArgs: the arguments of a control-flow operator (OpDef::control) at run: host values and its subgraphs.
//
// A model with such operators is cut into stages around them. Values that cross stages are host tensors; the nodes of
// each stage and of each subgraph run on the session's backend. Used by the thread of the session.
#pragma once

#include <span>
#include <vector>

#include "engine/op/op_def.h"
#include "engine/op/params.h"
#include "engine/tensor/tensor.h"

namespace opkit {

/// A tensor that describes without values: only its shape is known yet. Its buffer is none of any host or device.
Tensor withoutValue(TensorDesc desc);
/// False for those.
bool hasValue(const Tensor& tensor);

/// One subgraph of a node, ready to run on the session's backend. Plans are kept for shapes seen before.
class SubgraphRunner {
 public:
  virtual ~SubgraphRunner() = default;
  /// Inputs that the operator defines, without the captures.
  virtual size_t inputCount() const = 0;
  virtual size_t outputCount() const = 0;
  /// Runs with `inputs` as its first inputs; InvalidArgument when their number is wrong. The caller owns the outputs.
  /// If an input or capture has no value, nothing runs and the outputs have none: see outputDescs.
  virtual Result<std::vector<Tensor>> run(std::span<const Tensor> inputs) = 0;
  /// Descriptions of the outputs for these inputs, of which some may have no value. Unsupported if the shapes depend on
  /// one of those.
  virtual Result<std::vector<TensorDesc>> outputDescs(std::span<const Tensor> inputs) = 0;
};

struct ControlArgs {
  std::span<const uint8_t> paramBytes;
  // The node's inputs on the host; without a buffer where absent. Of a node with subgraphs some may have no value: then
  // its outputs have none either, and Unsupported says that their shapes depend on one.
  std::span<const Tensor> inputs;
  std::span<SubgraphRunner* const> subgraphs;  // in the order of OpDef::subgraphs
  size_t outputCount = 1;

  template <class Table>
  typename Table::NativeTableType params() const {
    return unpackParams<Table>(paramBytes);
  }
  bool hasInput(size_t i) const { return i < inputs.size() && inputs[i].buffer != nullptr; }
};

/// Runs the card's generic checks (arity, dtypes) and then OpDef::control. At least as many outputs as asked for.
/// Messages start with the type.
Result<std::vector<Tensor>> runOnHost(const OpDef& def, const ControlArgs& args);

}  // namespace opkit
