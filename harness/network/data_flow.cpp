#include "harness/network/data_flow.h"

namespace opkit::harness {

DataFlow::DataFlow(const Model& model, const OpRegistry& registry)
    : registry_(registry),
      fromShapes_(model.tensors.size(), false),
      fromData_(model.tensors.size(), false),
      shapeFromData_(model.tensors.size(), false) {
  for (const TensorId input : model.inputs) fromData_[input] = true;
  for (const ModelNode& node : model.nodes) visit(node);
}

bool DataFlow::shapesFromData(const ModelNode& node) const {
  const OpDef& def = *registry_.find(node.type);
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const TensorId input = node.inputs[i];
    if (!input) continue;
    const Port* port = portOf(def.inputs, i);
    if (shapeFromData(input) || (port && port->contents && fromData(input))) return true;
  }
  return false;
}

void DataFlow::visit(const ModelNode& node) {
  const OpDef& def = *registry_.find(node.type);
  const bool decides = def.control != nullptr;  // a run decides what it makes
  bool fromShapes = def.shapeOnly, fromValues = decides;
  for (const TensorId input : node.inputs) {
    if (!input) continue;
    fromShapes = fromShapes || fromShapes_[input];
    fromValues = fromValues || (fromData(input) && !def.shapeOnly);
  }
  const bool shapes = decides || shapesFromData(node);
  for (const TensorId output : node.outputs) {
    if (!output) continue;
    fromShapes_[output] = fromShapes;
    fromData_[output] = fromValues || shapes;
    shapeFromData_[output] = shapes;
  }
}

}  // namespace opkit::harness
