// GraphEncoder: the first half of a resize. It infers shapes in order, computes values on which shapes depend, folds
// constants and lowers operators to regions. The result is a list of commands for backends to run.
//
// Folded results that depend on constants alone are kept between resizes, and shared between the sessions of a model
// (folded_constants.h). A constant that a decomposition reshapes stays the same constant. One per session; not
// thread-safe.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/graph/content_plan.h"
#include "engine/graph/folded_constants.h"
#include "engine/graph/folding.h"
#include "engine/model/model.h"
#include "engine/op/op_registry.h"

namespace opkit {

/// One unit of work after encoding: an operator, or the regions of one output of a lowered operator.
struct EncodedCommand {
  const OpDef* def = nullptr;
  NodeId node;
  size_t ordinal = 0;  // distinguishes the commands of one node
  std::vector<TensorId> inputs;
  std::vector<TensorId> outputs;
  std::optional<RegionList> regions;  // set: a raster; Region::source indexes `inputs`
  double flops = 0;
  std::optional<ParamBytes> ownParams;  // of a part of a decomposed node; else the node's count

  const ParamBytes& params(const Model& model) const { return ownParams ? *ownParams : model.nodes[node].params; }
};

/// Tensors are numbered as in the model; those between the parts of decomposed nodes follow.
struct EncodedGraph {
  IndexedVector<TensorId, TensorDesc> descs;                // meaningful where reachable
  IndexedVector<TensorId, std::optional<Tensor>> contents;  // host values known at resize
  IndexedVector<TensorId, bool> constant;                   // contents never change between resizes
  IndexedVector<TensorId, Origin> origin;                   // of known contents
  std::vector<EncodedCommand> commands;                     // in execution order
  IndexedVector<TensorId, TensorId> alias;                  // the tensor whose memory it is a view of, or itself
  IndexedVector<TensorId, int64_t> aliasOffset;             // the element of that memory with which it begins
  size_t foldedNodes = 0;
  double foldedWork = 0;               // on values that no shape needs, see Folding
  size_t removedRasters = 0;           // tensors that fusion keeps from being made
  size_t fusedRegions = 0;             // regions of the rasters that replaced them
  size_t partialViews = 0;             // tensors that are parts of others and were not copied out
  const Backend* viewsOn = nullptr;    // whose alignment such parts need; null: no such parts
  std::vector<std::string> partNames;  // of the tensors that the model does not have

  const std::string& tensorName(const Model& model, TensorId tensor) const {
    return model.tensors.contains(tensor) ? model.tensors[tensor].name
                                          : partNames[tensor.value() - model.tensors.size()];
  }
  TensorId addTensor(std::string name);
};

/// First element in the source, if the output is a contiguous run of the source; else nullopt.
std::optional<int64_t> viewOffset(const RegionList& list, const TensorDesc& source, const TensorDesc& output);
/// True if the output has the bytes of its source in the same order.
bool isWholeView(const RegionList& list, const TensorDesc& source, const TensorDesc& output);

struct EncodeOptions {
  bool views = true;  // whole-tensor reshapes share memory and passes run; if false, every tensor has its own bytes
  std::vector<std::string> disabledPasses = {};
  const Backend* viewsOn = nullptr;  // tensors may be parts of others if this backend's alignment allows it
  std::shared_ptr<FoldedConstants> folded = nullptr;  // shared with other encoders of the model; null: not shared
  FoldingOptions folding = {};
};

class GraphEncoder {
 public:
  /// `reference` runs folded nodes. The references must outlive the encoder.
  GraphEncoder(const Model& model, const OpRegistry& registry, Backend& reference, EncodeOptions options);

  const ContentPlan& contentPlan() const { return contentPlan_; }

  /// `inputs` are the session's host input tensors, in model order; the values of those that the content
  /// plan lists are read. Errors name the node; OutOfMemory if a folded tensor exceeds kMostFoldedBytes.
  Result<EncodedGraph> encode(std::span<const Tensor> inputs);

 private:
  struct NodePlace;
  struct NodeView;
  Status encodeNode(const ModelNode& node, const NodePlace& place, EncodedGraph& graph);
  Status takeBack(const ModelNode& node, EncodedGraph& graph);
  void postpone(const ModelNode& node, EncodedGraph& graph);
  Status fold(const NodeView& view, const std::vector<TensorDesc>& outputs, EncodedGraph& graph);
  Result<std::optional<Tensor>> viewOfConstant(const NodeView& view, const std::vector<TensorDesc>& outputs,
                                               const EncodedGraph& graph) const;
  Status lower(const NodeView& view, const std::vector<TensorDesc>& outputs, EncodedGraph& graph);
  void addRaster(const NodeView& view, size_t output, RegionList list, EncodedGraph& graph);
  Status decompose(const NodeView& view, const std::vector<TensorDesc>& outputs, EncodedGraph& graph);
  Status encodeParts(const NodeView& view, const std::vector<TensorDesc>& outputs, const Decomposition& parts,
                     EncodedGraph& graph);
  Status encodeConverted(const NodeView& view, DType narrow, DType wide, EncodedGraph& graph);

  const Model& model_;
  const OpRegistry& registry_;
  Folding folding_;
  EncodeOptions options_;
  ContentPlan contentPlan_;
  std::vector<ModelNode> postponed_;         // of this graph: nodes that could be folded and are left to a run
  std::map<TensorId, size_t> postponedBy_;   // the one that makes a tensor
  std::shared_ptr<FoldedConstants> folded_;  // kept between resizes; shared, see EncodeOptions
};

}  // namespace opkit
