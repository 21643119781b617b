// fuse-regions: chains of operators that only move data become one raster, or a view and no raster at all.
//
// A tensor that a raster writes and only rasters read need not exist: each reader's regions are composed with the
// regions that wrote it (region_compose.h). All readers must agree, and none may end up with many more regions than
// the two rasters had, since a region costs a dispatch. Order matters: writers come first, so chains of any length
// fold in one sweep.
//
// Assumes, and leaves a raster otherwise:
// - All readers of its tensor are rasters, and it is no output of the model, also not through a view (visit, fuse).
// - Regions of one list write no element twice (REQUIRED of RegionList); composed ones then do not either.
// - Elements that no region writes are filled alike by both rasters (mergeFill); no fill is an element of the tensor
//   (fuse).
// - A view has the type, the elements and the order of its source, which is no constant (becomesView).
// - It runs before view-ranges: tensors begin where their memory begins (run).
#include "engine/graph/encoder.h"
#include "engine/graph/passes/engine_passes.h"
#include "engine/graph/passes/region_compose.h"

namespace opkit {
namespace {

constexpr size_t kAlwaysAllowedRegions = 8;  // of one fused raster, however few its parts had

class RegionFusion {
 public:
  RegionFusion(EncodedGraph& graph, const Model& model)
      : graph_(graph),
        dead_(graph.commands.size(), false),
        isFused_(graph.commands.size(), false),
        readers_(graph.descs.size()),
        isOutput_(graph.descs.size(), false) {
    for (const TensorId output : model.outputs) isOutput_[rootOf(output)] = true;
    for (size_t c = 0; c < graph.commands.size(); ++c)
      for (const TensorId input : graph.commands[c].inputs)
        if (input) readersOf(input).push_back(c);
  }

  size_t run() {
    OPKIT_CHECK(std::ranges::all_of(graph_.aliasOffset, [](int64_t offset) { return offset == 0; }));
    for (size_t c = 0; c < graph_.commands.size(); ++c)
      if (graph_.commands[c].regions) visit(c);
    std::vector<EncodedCommand> alive;
    for (size_t c = 0; c < dead_.size(); ++c)
      if (!dead_[c]) alive.push_back(std::move(graph_.commands[c]));
    graph_.commands = std::move(alive);
    for (const TensorId t : graph_.alias.ids()) graph_.alias[t] = rootOf(t);
    graph_.removedRasters += removed_;
    for (size_t c = 0, next = 0; c < dead_.size(); ++c) {
      if (dead_[c]) continue;
      if (isFused_[c]) graph_.fusedRegions += graph_.commands[next].regions->regions.size();
      ++next;
    }
    return removed_;
  }

 private:
  TensorId rootOf(TensorId tensor) const {
    while (graph_.alias[tensor] != tensor) tensor = graph_.alias[tensor];
    return tensor;
  }
  std::vector<size_t>& readersOf(TensorId tensor) { return readers_[rootOf(tensor)]; }
  bool isOutput(TensorId tensor) const { return isOutput_[rootOf(tensor)]; }

  void visit(size_t c) {
    if (becomesView(c)) return;
    const TensorId tensor = graph_.commands[c].outputs[0];
    if (isOutput(tensor)) return;
    std::vector<size_t> readers = readersOf(tensor);
    std::erase_if(readers, [&](size_t reader) { return dead_[reader]; });
    std::sort(readers.begin(), readers.end());
    readers.erase(std::unique(readers.begin(), readers.end()), readers.end());
    std::vector<EncodedCommand> fused;
    for (size_t reader : readers) {
      std::optional<EncodedCommand> command = fuse(graph_.commands[reader], graph_.commands[c]);
      if (!command) return;
      fused.push_back(*std::move(command));
    }
    for (size_t i = 0; i < readers.size(); ++i) {
      graph_.commands[readers[i]] = std::move(fused[i]);
      isFused_[readers[i]] = true;
      for (const TensorId input : graph_.commands[readers[i]].inputs)
        if (input) readersOf(input).push_back(readers[i]);
    }
    remove(c);
  }

  void remove(size_t c) {  // it stays in the reader lists of its inputs
    dead_[c] = true;
    ++removed_;
  }

  /// A fused chain may be the bytes of its source in the same order.
  bool becomesView(size_t c) {
    const EncodedCommand& command = graph_.commands[c];
    if (command.regions->regions.empty()) return false;
    const TensorId source = command.inputs[static_cast<size_t>(command.regions->regions[0].source)];
    const TensorId output = command.outputs[0];
    if (graph_.contents[source]) return false;
    if (!isWholeView(*command.regions, graph_.descs[source], graph_.descs[output])) return false;
    const std::vector<size_t> readers = readersOf(output);
    if (isOutput(output)) isOutput_[rootOf(source)] = true;
    remove(c);
    graph_.alias[rootOf(output)] = rootOf(source);
    readersOf(source).insert(readersOf(source).end(), readers.begin(), readers.end());
    return true;
  }

  /// The elements of the reader that the writer filled rather than copied are filled by the reader itself.
  static bool mergeFill(RegionList& reader, const RegionList& writer, TensorId readerFill, TensorId writerFill) {
    if (writer.fill == RegionList::Fill::None) return true;
    if (reader.fill == RegionList::Fill::None) {
      reader.fill = writer.fill;
      return true;
    }
    return reader.fill == writer.fill && (reader.fill != RegionList::Fill::Input || readerFill == writerFill);
  }

  std::optional<EncodedCommand> fuse(const EncodedCommand& reader, const EncodedCommand& writer) const {
    if (!reader.regions) return std::nullopt;
    const TensorId tensor = rootOf(writer.outputs[0]);
    EncodedCommand fused = reader;
    fused.inputs.clear();
    const auto sourceIndex = [&](TensorId input) {
      const auto found = std::find(fused.inputs.begin(), fused.inputs.end(), input);
      if (found != fused.inputs.end()) return static_cast<int>(found - fused.inputs.begin());
      fused.inputs.push_back(input);
      return static_cast<int>(fused.inputs.size()) - 1;
    };
    RegionList& list = *fused.regions;
    list.regions.clear();
    for (const Region& region : reader.regions->regions) {
      if (elementCount(region.size) == 0) continue;
      const TensorId input = reader.inputs[static_cast<size_t>(region.source)];
      if (rootOf(input) != tensor) {
        list.regions.push_back(region);
        list.regions.back().source = sourceIndex(input);
        continue;
      }
      for (const Region& written : writer.regions->regions) {
        std::optional<std::vector<Region>> parts = composeRegions(region, written);
        if (!parts) return std::nullopt;
        for (Region& part : *parts) {
          part.source = sourceIndex(writer.inputs[static_cast<size_t>(written.source)]);
          list.regions.push_back(std::move(part));
        }
      }
    }
    mergeRegions(list.regions);
    const size_t before = reader.regions->regions.size() + writer.regions->regions.size();
    if (list.regions.size() > std::max(before, kAlwaysAllowedRegions)) return std::nullopt;
    const TensorId readerFill = fillOf(reader), writerFill = fillOf(writer);
    if (readerFill && rootOf(readerFill) == tensor) return std::nullopt;  // would read the fill from T
    if (!mergeFill(list, *writer.regions, readerFill, writerFill)) return std::nullopt;
    int64_t written = 0;
    for (const Region& region : list.regions) written += elementCount(region.size);
    if (written == graph_.descs[fused.outputs[0]].elements()) list.fill = RegionList::Fill::None;
    if (list.fill == RegionList::Fill::Input) list.fillInput = sourceIndex(readerFill ? readerFill : writerFill);
    return fused;
  }

  static TensorId fillOf(const EncodedCommand& command) {
    if (command.regions->fill != RegionList::Fill::Input) return {};
    return command.inputs[static_cast<size_t>(command.regions->fillInput)];
  }

  EncodedGraph& graph_;
  std::vector<bool> dead_;                                // per command
  std::vector<bool> isFused_;                             // per command
  IndexedVector<TensorId, std::vector<size_t>> readers_;  // per root tensor: commands, perhaps repeated or dead
  IndexedVector<TensorId, bool> isOutput_;                // per root tensor: a model's output shows it
  size_t removed_ = 0;
};

}  // namespace

GraphPass fuseRegionsPass() {
  return {"fuse-regions", "chains of data-moving operators are one raster, or none", GraphPass::Position::AfterLowering,
          nullptr,
          [](EncodedGraph& graph, const Model& model) -> Result<size_t> { return RegionFusion(graph, model).run(); }};
}

}  // namespace opkit
