#include "harness/network/data_flow.h"

namespace opkit::harness {

DataFlow::DataFlow(const Model& model, const OpRegistry& registry)
    : registry_(registry),
      fromShapes_(model.tensors.size(), false),
      fromData_(model.tensors.size(), false),
      shapeFromData_(model.tensors.size(), false) {
  for (const int input : model.inputs) fromData_[index(input)] = true;
  for (const ModelNode& node : model.nodes) visit(node);
}

bool DataFlow::shapesFromData(const ModelNode& node) const {
  const OpDef& def = *registry_.find(node.type);
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const int input = node.inputs[i];
    if (input < 0) continue;
    const Port* port = portOf(def.inputs, i);
    if (shapeFromData(input) || (port && port->contents && fromData(input))) return true;
  }
  return false;
}

void DataFlow::visit(const ModelNode& node) {
  const OpDef& def = *registry_.find(node.type);
  const bool decides = def.control != nullptr;  // a run decides what it makes
  bool fromShapes = def.shapeOnly, fromValues = decides;
  for (const int input : node.inputs) {
    if (input < 0) continue;
    fromShapes = fromShapes || fromShapes_[index(input)];
    fromValues = fromValues || (fromData(input) && !def.shapeOnly);
  }
  const bool shapes = decides || shapesFromData(node);
  for (const int output : node.outputs) {
    if (output < 0) continue;
    fromShapes_[index(output)] = fromShapes;
    fromData_[index(output)] = fromValues || shapes;
    shapeFromData_[index(output)] = shapes;
  }
}

}  // namespace opkit::harness
