// CommandView: an encoded command as a backend's Creators see it: with regions, a Raster. The view keeps alive what
// CreateArgs refers to.
#pragma once

#include "engine/backend/creator.h"
#include "engine/graph/encoder.h"
#include "engine/runtime/session.h"

namespace opkit {

/// One of the backends of a session.
using BackendIndex = Index<struct BackendTag>;
inline constexpr BackendIndex kMainBackend{0};

/// The storage of a graph's tensors in a schedule under construction.
struct TensorHomes {
  explicit TensorHomes(size_t tensors) : backend(tensors), layout(tensors, Layout::NCHW) {}
  IndexedVector<TensorId, BackendIndex> backend;  // of the step that writes it, absent if none does yet
  IndexedVector<TensorId, Layout> layout;         // after that step
};

class CommandView {
 public:
  CommandView(const EncodedCommand& command, const Model& model, const EncodedGraph& graph, const SessionConfig& config,
              const Backend& backend, BackendIndex backendIndex, const TensorHomes& homes);
  CommandView(const CommandView&) = delete;
  CommandView& operator=(const CommandView&) = delete;

  /// Valid as long as the view.
  CreateArgs args() const { return {def_, params_, inputList_, outputs_, constants_, caps_, layouts_, regions_}; }
  /// Per input: its value if known at resize, else null.
  std::span<const Tensor* const> contents() const { return contents_; }

 private:
  const OpDef& def_;
  const ParamBytes& params_;
  const RegionList* regions_;
  const DeviceCaps& caps_;
  std::vector<TensorDesc> inputs_, outputs_;
  std::vector<const TensorDesc*> inputList_;
  std::vector<const Tensor*> constants_, contents_;
  std::vector<Layout> layouts_;
};

}  // namespace opkit
