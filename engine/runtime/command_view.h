// CommandView: what a backend's Creators see of an encoded command. The view keeps alive what CreateArgs refers to.
#pragma once

#include "engine/backend/creator.h"
#include "engine/graph/encoder.h"
#include "engine/runtime/session.h"

namespace opkit {

/// Where the tensors of a graph are kept, as far as a schedule has got.
struct TensorHomes {
  explicit TensorHomes(size_t tensors) : backend(tensors, -1), layout(tensors, Layout::NCHW) {}
  std::vector<int> backend;    // per tensor: of the step that writes it, -1 while none does
  std::vector<Layout> layout;  // per tensor: as that step leaves it
};

class CommandView {
 public:
  CommandView(const EncodedCommand& command, const Model& model, const EncodedGraph& graph, const SessionConfig& config,
              const Backend& backend, int backendIndex, const TensorHomes& homes);
  CommandView(const CommandView&) = delete;
  CommandView& operator=(const CommandView&) = delete;

  /// Valid as long as the view.
  CreateArgs args() const { return {def_, params_, inputList_, outputs_, constants_, caps_, layouts_}; }
  /// Per input: its value where that is known at resize, else null.
  std::span<const Tensor* const> contents() const { return contents_; }

 private:
  const OpDef& def_;
  const ParamBytes& params_;
  const DeviceCaps& caps_;
  std::vector<TensorDesc> inputs_, outputs_;
  std::vector<const TensorDesc*> inputList_;
  std::vector<const Tensor*> constants_, contents_;
  std::vector<Layout> layouts_;
};

}  // namespace opkit
