// opkit_graph: a model as a plugin's graph pass sees and changes it.
#pragma once

#include <string>

#include "engine/graph/model_edit.h"
#include "engine/op/op_registry.h"
#include "engine/plugin/opkit_plugin.h"

/// The opaque struct of the C ABI. Nodes keep their numbers while a pass runs; finish() takes removed ones out.
struct opkit_graph {
 public:
  opkit_graph(opkit::Model& model, const opkit::OpRegistry& registry)
      : model_(model), registry_(registry), edit_(model) {}

  size_t nodes() const { return model_.nodes.size(); }
  /// Null for a removed node or a number out of range.
  const opkit::ModelNode* node(opkit::NodeId id) const {
    return model_.nodes.contains(id) && !edit_.isRemoved(model_.nodes[id]) ? &model_.nodes[id] : nullptr;
  }
  opkit::NodeId producer(opkit::TensorId tensor) const;
  size_t uses(opkit::TensorId tensor) const { return model_.tensors.contains(tensor) ? edit_.readerCount(tensor) : 0; }
  bool isOutput(opkit::TensorId tensor) const { return model_.tensors.contains(tensor) && edit_.isOutput(tensor); }
  const char* attributesJson(opkit::NodeId node) const;
  opkit_code replace(opkit::TensorId from, opkit::TensorId to);
  opkit_code remove(opkit::NodeId node);
  opkit_code retype(opkit::NodeId node, const char* type, const char* attributes);
  /// Keeps the first mistake of the pass in mind.
  opkit_code refuse(std::string message);
  /// Removes nodes for good. The first mistake of the pass, or OK.
  opkit::Status finish();

 private:
  opkit::Model& model_;
  const opkit::OpRegistry& registry_;
  opkit::ModelEdit edit_;
  mutable std::string json_;
  std::string mistake_;
};
