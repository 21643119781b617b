// ModelEdit: helpers for graph passes that rewrite a Model: producers and readers of tensors, replacing and removing
// nodes.
//
//   ModelEdit edit(model);
//   for (ModelNode& node : model.nodes)
//     if (ModelNode* mul = edit.producer(node.inputs[0], "Mul")) ...
//   return edit.finish();
//
// Nodes are marked as removed and dropped in finish(), so indices stay valid while a pass runs. For one thread.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/model/model.h"

namespace opkit {

class ModelEdit {
 public:
  explicit ModelEdit(Model& model);

  /// The node that makes a tensor; null for inputs, constants and absent tensors.
  ModelNode* producer(TensorId tensor) const;
  /// As above, if it is of this type.
  ModelNode* producer(TensorId tensor, std::string_view type) const;
  /// How many node inputs and model outputs read the tensor.
  size_t readerCount(TensorId tensor) const;
  bool isInput(TensorId tensor) const;
  bool isOutput(TensorId tensor) const;
  /// The node is the tensor's only reader, so the tensor can vanish with it.
  bool isOnlyReader(TensorId tensor) const { return readerCount(tensor) == 1 && !isOutput(tensor); }

  /// Host value of a constant; null otherwise.
  const Tensor* constant(TensorId tensor) const;
  /// The single element of a constant of a floating type, which may be of any rank.
  std::optional<float> scalar(TensorId tensor) const;
  TensorId addConstant(const std::string& name, Tensor value);
  /// A node with one output, which is returned. Only a later pass sees it as a producer and as a reader.
  TensorId addNode(ModelNode node);

  /// Every reader of `from` reads `to` instead; not the model's outputs.
  void replaceReaders(TensorId from, TensorId to);
  /// `node` makes `tensor` as its output i; the previous output then has no producer.
  void moveOutput(ModelNode& node, size_t output, TensorId tensor);
  void replaceInput(ModelNode& node, size_t input, TensorId tensor);
  /// `with` replaces the node; REQUIRES the same outputs.
  void replaceNode(ModelNode& node, const ModelNode& with);
  void remove(ModelNode& node);
  bool isRemoved(const ModelNode& node) const { return removed_[indexOf(node)]; }

  /// Drops the removed nodes and unread constants, sorts the rest. Returns how often count() was called.
  Result<size_t> finish();
  /// Counts one change made by the pass.
  void count() { ++changes_; }

 private:
  std::string uniqueName(const std::string& name);
  void noteTensor();
  NodeId indexOf(const ModelNode& node) const { return model_.nodes.idOf(node); }
  void readInputs(const ModelNode& node, int change);
  void noteReader(NodeId node);

  Model& model_;
  IndexedVector<TensorId, NodeId> producer_;
  IndexedVector<TensorId, size_t> readers_;                   // model outputs included
  IndexedVector<TensorId, std::vector<NodeId>> readerNodes_;  // nodes that read it, and some that no longer do
  std::unordered_set<std::string> names_;                     // of all tensors; filled by the first addConstant
  std::unordered_map<std::string, int> numbers_;              // per used name: the last number tried after it
  IndexedVector<TensorId, bool> isInput_, isOutput_;
  IndexedVector<NodeId, bool> removed_;
  std::vector<ModelNode> added_;  // by addNode
  size_t changes_ = 0;
};

}  // namespace opkit
