// view-ranges: a Slice or a Split along the outermost axis takes a contiguous run out of a tensor. If the backend can
// bind the address where the run begins, the result is a view and nothing is copied.
//
// Runs after fuse-regions: copies merged into other copies are gone by then, and the remaining ones have readers that
// need a tensor. A view keeps its whole source alive; a copy would free the rest.
//
// Assumes, and copies otherwise:
// - The raster has one region, a run of elements of its source in their order and of their type (viewOffset).
// - The source is no constant, and the run is not empty (makeView).
// - The run begins where the backend and the host may bind memory, at a whole byte (mayBegin). A device never stores
//   elements wider than the host, so an aligned offset on it is one on the host.
// - Kernels that work in place see every reader of the memory (reusableInput in engine/runtime/schedule.cpp).
#include "engine/graph/encoder.h"
#include "engine/graph/passes/engine_passes.h"

namespace opkit {
namespace {

constexpr size_t kHostAlignment = 64;  // of the backend that operators fall back to

bool mayBegin(const Backend& backend, const TensorDesc& desc, int64_t offset) {
  const DType dtype = backend.storageDType(desc.dtype);
  if (offset != 0 && isPacked(dtype)) return false;  // it may begin within a byte
  const size_t bytes = bytesOf(dtype, offset);
  return bytes % backend.alignment() == 0 && bytes % kHostAlignment == 0;
}

/// Of a tensor that owns memory: the tensors that are views of it, itself included.
using Views = IndexedVector<TensorId, std::vector<TensorId>>;

Views viewsOf(const EncodedGraph& graph) {
  Views views(graph.alias.size());
  for (const TensorId t : graph.alias.ids()) views[graph.alias[t]].push_back(t);
  return views;
}

/// Makes the output of a raster a view; returns false and changes nothing if it must be copied.
bool makeView(const EncodedCommand& command, EncodedGraph& graph, Views& views) {
  if (!command.regions || command.regions->regions.empty()) return false;
  const TensorId output = command.outputs[0];
  const TensorId source = command.inputs[static_cast<size_t>(command.regions->regions[0].source)];
  const TensorDesc& desc = graph.descs[output];
  if (graph.contents[source] || desc.elements() == 0) return false;
  const std::optional<int64_t> within = viewOffset(*command.regions, graph.descs[source], desc);
  if (!within || !mayBegin(*graph.viewsOn, desc, graph.aliasOffset[source] + *within)) return false;
  const int64_t offset = graph.aliasOffset[source] + *within;
  const TensorId owner = graph.alias[source];
  for (const TensorId view : std::exchange(views[output], {})) {
    graph.alias[view] = owner;
    graph.aliasOffset[view] += offset;
    views[owner].push_back(view);
  }
  return true;
}

}  // namespace

GraphPass viewRangesPass() {
  return {"view-ranges", "parts of tensors that are runs of elements are not copied out of them",
          GraphPass::Position::AfterLowering, nullptr, [](EncodedGraph& graph, const Model&) -> Result<size_t> {
            if (!graph.viewsOn) return size_t{0};
            Views views = viewsOf(graph);
            const size_t made = std::erase_if(
                graph.commands, [&](const EncodedCommand& command) { return makeView(command, graph, views); });
            graph.partialViews += made;
            return made;
          }};
}

}  // namespace opkit
