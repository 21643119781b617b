// DataFlow: what each tensor of a model depends on. Values that depend on the data of a run decide whether a node is
// the same node in every run.
#pragma once

#include <vector>

#include "engine/model/model.h"
#include "engine/op/op_registry.h"

namespace opkit::harness {

class DataFlow {
 public:
  /// REQUIRES a valid model.
  DataFlow(const Model& model, const OpRegistry& registry);

  /// The values follow from constants alone: a session has them before it runs.
  bool isConstant(TensorId tensor) const { return !fromShapes_[tensor] && !fromData_[tensor]; }
  /// The values depend on those of the model's inputs, not only on their shapes.
  bool fromData(TensorId tensor) const { return fromData_[tensor]; }
  /// The shape does.
  bool shapeFromData(TensorId tensor) const { return shapeFromData_[tensor]; }
  /// True if the shape of an input, or an input from which the shape rule takes values, depends on data.
  bool shapesFromData(const ModelNode& node) const;

 private:
  void visit(const ModelNode& node);

  const OpRegistry& registry_;
  IndexedVector<TensorId, bool> fromShapes_, fromData_, shapeFromData_;
};

}  // namespace opkit::harness
