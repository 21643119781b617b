// opkit_graph: a model as a plugin's graph pass sees and changes it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/model/model.h"
#include "engine/op/op_registry.h"
#include "engine/plugin/opkit_plugin.h"

/// The opaque struct of the C ABI. Nodes keep their numbers while a pass runs; finish() takes removed ones out.
struct opkit_graph {
 public:
  opkit_graph(opkit::Model& model, const opkit::OpRegistry& registry) : model_(model), registry_(registry) {
    removed_.assign(model.nodes.size(), false);
  }

  size_t nodes() const { return model_.nodes.size(); }
  /// Null for a removed node or a number out of range.
  const opkit::ModelNode* node(size_t index) const {
    return index < nodes() && !removed_[index] ? &model_.nodes[index] : nullptr;
  }
  int32_t producer(int32_t tensor) const;
  size_t uses(int32_t tensor) const;
  bool isOutput(int32_t tensor) const;
  const char* attributesJson(size_t node) const;
  opkit_code replace(int32_t from, int32_t to);
  opkit_code remove(size_t node);
  opkit_code retype(size_t node, const char* type, const char* attributes);
  /// Keeps the first mistake of the pass in mind.
  opkit_code refuse(std::string message);
  /// Removes nodes for good. The first mistake of the pass, or OK.
  opkit::Status finish();

 private:
  bool isTensor(int32_t tensor) const { return tensor >= 0 && static_cast<size_t>(tensor) < model_.tensors.size(); }

  opkit::Model& model_;
  const opkit::OpRegistry& registry_;
  std::vector<bool> removed_;
  mutable std::string json_;
  std::string mistake_;
};
