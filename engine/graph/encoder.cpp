#include "engine/graph/encoder.h"

#include <algorithm>
#include <set>

#include "engine/graph/run_passes.h"
#include "engine/op/decomposition.h"

namespace opkit {
namespace {

std::string nodeContext(const ModelNode& node) { return fmt::format("node '{}'", node.name); }

}  // namespace

std::optional<int64_t> viewOffset(const RegionList& list, const TensorDesc& source, const TensorDesc& output) {
  if (list.regions.size() != 1 || list.fill != RegionList::Fill::None || source.dtype != output.dtype)
    return std::nullopt;
  const Region region = collapse(list.regions.front());
  if (region.offset != 0 || elementCount(region.size) != output.elements()) return std::nullopt;
  const bool isRun =
      region.size.empty() || (region.size.size() == 1 && region.sourceStrides[0] == 1 && region.strides[0] == 1);
  return isRun ? std::optional(region.sourceOffset) : std::nullopt;
}

bool isWholeView(const RegionList& list, const TensorDesc& source, const TensorDesc& output) {
  return source.elements() == output.elements() && viewOffset(list, source, output) == 0;
}

TensorId EncodedGraph::addTensor(std::string name) {
  const TensorId index = descs.push_back({});
  contents.push_back({});
  constant.push_back(false);
  origin.push_back(Origin::Constants);
  alias.push_back(index);
  aliasOffset.push_back(0);
  partNames.push_back(std::move(name));
  return index;
}

/// Position of a node: a node of the model, or a part inside the decomposition of node `index`.
struct GraphEncoder::NodePlace {
  NodeId index;
  size_t* nextOrdinal = nullptr;  // of parts: commands emitted for the node so far
  size_t depth = 0;
  bool needed = false;  // a shape depends on its values

  bool isPart() const { return nextOrdinal != nullptr; }
  size_t ordinal(size_t output) const { return isPart() ? (*nextOrdinal)++ : output; }
};

struct GraphEncoder::NodeView {
  NodePlace place;
  const ModelNode& node;
  const OpDef& def;
  std::vector<const TensorDesc*> inputs;
  std::vector<const Tensor*> contents;

  ShapeArgs shapeArgs() const { return {node.params, inputs, contents, node.outputs.size()}; }
  KnownNode known(const std::vector<TensorDesc>& outputs) const {
    return {def, node.params, inputs, contents, outputs};
  }
  std::optional<ParamBytes> ownParams() const { return place.isPart() ? std::optional(node.params) : std::nullopt; }
};

GraphEncoder::GraphEncoder(const Model& model, const OpRegistry& registry, Backend& reference, EncodeOptions options)
    : model_(model),
      registry_(registry),
      folding_(reference, options.folding),
      options_(std::move(options)),
      contentPlan_(planContents(model, registry)),
      folded_(options_.folded ? options_.folded : std::make_shared<FoldedConstants>()) {}

namespace {

/// Commands of nodes that were folded after all.
void dropUnread(EncodedGraph& graph, const Model& model) {
  IndexedVector<TensorId, bool> isRead(graph.descs.size(), false);
  for (const TensorId output : model.outputs)
    if (!graph.contents[output]) isRead[graph.alias[output]] = true;
  std::vector<bool> dropped(graph.commands.size(), false);
  for (size_t c = graph.commands.size(); c-- > 0;) {
    const EncodedCommand& command = graph.commands[c];
    dropped[c] = std::ranges::all_of(
        command.outputs, [&](TensorId output) { return !output || (graph.contents[output] && !isRead[output]); });
    if (dropped[c]) continue;
    for (const TensorId input : command.inputs)
      if (input) isRead[graph.alias[input]] = true;
  }
  size_t next = 0;
  std::erase_if(graph.commands, [&](const EncodedCommand&) { return dropped[next++]; });
}

}  // namespace

Result<EncodedGraph> GraphEncoder::encode(std::span<const Tensor> inputs) {
  EncodedGraph graph;
  const size_t count = model_.tensors.size();
  graph.descs.resize(count);
  graph.contents.resize(count);
  graph.constant.assign(count, false);
  graph.origin.assign(count, Origin::Constants);
  graph.aliasOffset.assign(count, 0);
  graph.viewsOn = options_.viewsOn;
  postponed_.clear();
  postponedBy_.clear();
  for (const TensorId t : model_.tensors.ids()) {
    graph.alias.push_back(t);
    if (!model_.tensors[t].constant) continue;
    graph.descs[t] = model_.tensors[t].desc;
    graph.contents[t] = model_.tensors[t].constant;
    graph.constant[t] = true;
  }
  for (size_t i = 0; i < inputs.size(); ++i) graph.descs[model_.inputs[i]] = inputs[i].desc;
  for (const size_t i : contentPlan_.inputs) {
    graph.contents[model_.inputs[i]] = inputs[i];
    graph.origin[model_.inputs[i]] = Origin::Inputs;
  }
  for (const NodeId n : model_.nodes.ids()) {
    NodePlace place{n};
    for (const TensorId output : model_.nodes[n].outputs)
      place.needed = place.needed || (output && contentPlan_.needed[output]);
    OPKIT_TRY(encodeNode(model_.nodes[n], place, graph).withContext(nodeContext(model_.nodes[n])));
  }
  if (!postponed_.empty()) dropUnread(graph, model_);
  // Passes remove tensors, so they are off if all tensors must be readable.
  if (options_.views) OPKIT_TRY(rewriteGraph(graph, model_, registry_, options_.disabledPasses));
  return graph;
}

namespace {

/// Whether input i of a card has a dtype that its port refuses, while the port takes `wide`.
bool isConverted(const OpDef& def, const TensorDesc* input, size_t i, DType narrow, DType wide) {
  const Port* port = portOf(def.inputs, i);
  return input && input->dtype == narrow && port && !port->dtypes.contains(narrow) && port->dtypes.contains(wide);
}

/// The outputs if the inputs marked in `changed` had the dtype `other`; a failure if they may not.
Result<std::vector<TensorDesc>> outputsIf(const OpDef& def, const ShapeArgs& args, const std::vector<bool>& changed,
                                          DType other) {
  std::vector<TensorDesc> descs(args.inputs.size());
  std::vector<const TensorDesc*> inputs(args.inputs.begin(), args.inputs.end());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!changed[i]) continue;
    descs[i] = {other, inputs[i]->shape};
    inputs[i] = &descs[i];
  }
  return inferShapes(def, {args.paramBytes, inputs, args.contents, args.outputCount});
}

/// Per output of dtype `wide`: false if it does not follow the converted inputs. The shape rule is asked once more,
/// with another dtype for these inputs, or for all of dtype `wide` where they must be alike.
std::vector<bool> followsInputs(const OpDef& def, const ShapeArgs& args, const std::vector<bool>& converted, DType wide,
                                const std::vector<TensorDesc>& outputs) {
  std::vector<bool> follows, alike;
  for (const TensorDesc& output : outputs) follows.push_back(output.dtype == wide);
  for (size_t i = 0; i < args.inputs.size(); ++i) alike.push_back(args.hasInput(i) && args.input(i).dtype == wide);
  for (const std::vector<bool>& changed : {converted, alike})
    for (const DType other : {DType::Float16, DType::Float64, DType::Int8}) {
      if (other == wide) continue;
      const auto again = outputsIf(def, args, changed, other);
      if (!again) continue;
      for (size_t i = 0; i < follows.size(); ++i) follows[i] = follows[i] && (*again)[i].dtype != wide;
      return follows;
    }
  return follows;
}

}  // namespace

/// The node between conversions of its inputs and outputs.
Status GraphEncoder::encodeConverted(const NodeView& view, DType narrow, DType wide, EncodedGraph& graph) {
  const size_t count = view.inputs.size();
  Decomposition parts(count, view.node.outputs.size());
  std::vector<TensorDesc> descs(count);
  std::vector<Tensor> values(count);
  NodeView inner = view;
  std::vector<int> inputs;
  std::vector<bool> converted(count, false);
  for (size_t i = 0; i < count; ++i) {
    inputs.push_back(view.inputs[i] ? parts.input(i) : Decomposition::kAbsent);
    converted[i] = isConverted(view.def, view.inputs[i], i, narrow, wide);
    if (!converted[i]) continue;
    inputs.back() = registry_.conversion()(parts, inputs.back(), wide);
    descs[i] = {wide, view.inputs[i]->shape};
    inner.inputs[i] = &descs[i];
    if (!view.contents[i]) continue;
    OPKIT_ASSIGN(values[i], Tensor::onHost(descs[i]));
    convertElements(*view.contents[i], values[i]);
    inner.contents[i] = &values[i];
  }
  OPKIT_ASSIGN(std::vector<TensorDesc> outputs, inferShapes(view.def, inner.shapeArgs()));
  const std::vector<bool> follows = followsInputs(view.def, inner.shapeArgs(), converted, wide, outputs);
  const std::vector<int> made = parts.add(view.node.type, inputs, view.node.params, view.node.outputs.size());
  for (size_t i = 0; i < made.size(); ++i) {
    parts.setOutput(i, follows[i] ? registry_.conversion()(parts, made[i], narrow) : made[i]);
    if (follows[i]) outputs[i].dtype = narrow;
    if (view.node.outputs[i]) graph.descs[view.node.outputs[i]] = outputs[i];
  }
  return encodeParts(view, outputs, parts, graph);
}

namespace {

/// How many outputs a kernel writes: those up to the last that the model uses, and all that the card requires.
size_t writtenOutputs(const ModelNode& node, const OpDef& def) {
  size_t count = node.outputs.size();
  while (count < def.outputs.size() && def.outputs[count].kind == Port::Kind::Required) ++count;
  return count;
}

bool leavesOutWritten(const ModelNode& node, const OpDef& def) {
  return writtenOutputs(node, def) > node.outputs.size() || std::ranges::count(node.outputs, TensorId()) > 0;
}

/// The node with tensors, which nothing reads, for written outputs that the model leaves out: kernels do not ask.
ModelNode withWritten(const ModelNode& node, const OpDef& def, EncodedGraph& graph) {
  ModelNode whole = node;
  whole.outputs.resize(writtenOutputs(node, def));
  for (size_t i = 0; i < whole.outputs.size(); ++i)
    if (!whole.outputs[i]) whole.outputs[i] = graph.addTensor(fmt::format("{}/output{}", node.name, i));
  return whole;
}

/// Of what a node makes of known inputs.
Origin originOf(const ModelNode& node, const EncodedGraph& graph) {
  Origin origin = Origin::Constants;
  for (const TensorId input : node.inputs)
    if (input) origin = std::max(origin, graph.origin[input]);
  return origin;
}

}  // namespace

Status GraphEncoder::encodeNode(const ModelNode& node, const NodePlace& place, EncodedGraph& graph) {
  NodeView view{place, node, *registry_.find(node.type), {}, {}};
  bool allKnown = true, canFold = true;
  for (const TensorId input : node.inputs) {
    const bool known = input && graph.contents[input];
    view.inputs.push_back(input ? &graph.descs[input] : nullptr);
    view.contents.push_back(known ? &*graph.contents[input] : nullptr);
    allKnown = allKnown && (!input || known);
    canFold = canFold && (!input || known || postponedBy_.contains(input));
  }
  if (registry_.conversion())
    for (const auto& [narrow, wide] : view.def.computesAs)
      for (size_t i = 0; i < view.inputs.size(); ++i)
        if (isConverted(view.def, view.inputs[i], i, narrow, wide)) return encodeConverted(view, narrow, wide, graph);
  OPKIT_ASSIGN(const std::vector<TensorDesc> outputs, inferShapes(view.def, view.shapeArgs()));
  for (size_t i = 0; i < outputs.size(); ++i)
    if (node.outputs[i]) graph.descs[node.outputs[i]] = outputs[i];
  const bool folds = view.def.shapeOnly || (allKnown && folding_.takes(view.known(outputs), originOf(node, graph),
                                                                       place.needed, graph.foldedWork));
  if (folds) return fold(view, outputs, graph);
  if (canFold && !allKnown && folding_.takesBack(view.known(outputs), originOf(node, graph))) {
    OPKIT_TRY(takeBack(node, graph));
    return encodeNode(node, place, graph);
  }
  if (canFold) postpone(node, graph);
  if (!view.def.lower && !view.def.decompose && leavesOutWritten(node, view.def))
    return encodeNode(withWritten(node, view.def, graph), place, graph);
  if (view.def.lower) return lower(view, outputs, graph);
  if (view.def.decompose) return decompose(view, outputs, graph);
  if (view.def.toKernelForm) {
    OPKIT_ASSIGN(const Decomposition form, kernelForm(view.def, view.shapeArgs(), outputs));
    if (!form.parts().empty()) return encodeParts(view, outputs, form, graph);
  }
  const double flops = view.def.flops ? view.def.flops(view.shapeArgs(), outputs)
                                      : static_cast<double>(outputs.empty() ? 0 : outputs[0].elements());
  graph.commands.push_back(
      {&view.def, place.index, place.ordinal(0), node.inputs, node.outputs, std::nullopt, flops, view.ownParams()});
  return Status::ok();
}

/// Of a part of a decomposition that moves nothing (a Reshape): the input itself in another shape, so that kernels
/// find what they packed of a constant. Absent for others.
Result<std::optional<Tensor>> GraphEncoder::viewOfConstant(const NodeView& view, const std::vector<TensorDesc>& outputs,
                                                           const EncodedGraph& graph) const {
  const std::optional<Tensor> none;
  // Outputs of nodes of the model stay apart: nodes behind them keep folded results for all shapes.
  if (!view.place.isPart() || !view.def.lower || view.def.shapeOnly || outputs.size() != 1) return none;
  if (view.node.outputs[0] < TensorId(model_.tensors.size())) return none;
  OPKIT_ASSIGN(const auto lists, view.def.lower(view.shapeArgs(), outputs));
  if (lists.empty() || lists[0].regions.empty()) return none;
  const auto source = static_cast<size_t>(lists[0].regions[0].source);
  if (!graph.constant[view.node.inputs[source]] || !isWholeView(lists[0], *view.inputs[source], outputs[0]))
    return none;
  Tensor result = *view.contents[source];
  result.desc.shape = outputs[0].shape;
  return std::optional(std::move(result));
}

Status GraphEncoder::fold(const NodeView& view, const std::vector<TensorDesc>& outputs, EncodedGraph& graph) {
  // A decomposition may differ between shapes, so the folded results of its parts are not constant.
  bool constant = !view.def.shapeOnly && !view.place.isPart();
  for (const TensorId input : view.node.inputs) constant = constant && (!input || graph.constant[input]);
  ++graph.foldedNodes;
  OPKIT_ASSIGN(std::optional<Tensor> sameValues, viewOfConstant(view, outputs, graph));
  if (sameValues) {
    graph.contents[view.node.outputs[0]] = std::move(sameValues);
    graph.constant[view.node.outputs[0]] = true;
    return Status::ok();
  }

  const auto isKept = [&](TensorId output) { return !output || folded_->find(output).has_value(); };
  const bool kept = constant && std::all_of(view.node.outputs.begin(), view.node.outputs.end(), isKept);
  std::vector<Tensor> values;
  if (!kept) {
    OPKIT_ASSIGN(values, folding_.compute(view.known(outputs)));
  }
  const Origin origin = view.def.shapeOnly ? Origin::Shapes : originOf(view.node, graph);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const TensorId output = view.node.outputs[i];
    if (!output) continue;
    graph.contents[output] = kept ? folded_->find(output) : constant ? folded_->add(output, values[i]) : values[i];
    graph.constant[output] = constant;
    graph.origin[output] = origin;
  }
  return Status::ok();
}

void GraphEncoder::postpone(const ModelNode& node, EncodedGraph& graph) {
  for (const TensorId output : node.outputs) {
    if (!output) continue;
    graph.origin[output] = originOf(node, graph);
    postponedBy_[output] = postponed_.size();
  }
  postponed_.push_back(node);
}

/// Computes the inputs of a node that were left to a run, with all that they depend on.
Status GraphEncoder::takeBack(const ModelNode& node, EncodedGraph& graph) {
  std::set<size_t> makers;  // in the order of the graph
  std::vector<TensorId> wanted(node.inputs);
  while (!wanted.empty()) {
    const TensorId tensor = wanted.back();
    wanted.pop_back();
    if (!tensor || graph.contents[tensor]) continue;
    const size_t maker = postponedBy_.at(tensor);
    if (!makers.insert(maker).second) continue;
    wanted.insert(wanted.end(), postponed_[maker].inputs.begin(), postponed_[maker].inputs.end());
  }
  for (const size_t maker : makers) {
    const ModelNode& made = postponed_[maker];
    NodeView view{{}, made, *registry_.find(made.type), {}, {}};
    for (const TensorId input : made.inputs) {
      view.inputs.push_back(input ? &graph.descs[input] : nullptr);
      view.contents.push_back(input ? &*graph.contents[input] : nullptr);
    }
    OPKIT_ASSIGN(const std::vector<TensorDesc> outputs, inferShapes(view.def, view.shapeArgs()));
    OPKIT_TRY(fold(view, outputs, graph));
  }
  return Status::ok();
}

Status GraphEncoder::lower(const NodeView& view, const std::vector<TensorDesc>& outputs, EncodedGraph& graph) {
  OPKIT_ASSIGN(auto lists, view.def.lower(view.shapeArgs(), outputs));
  OPKIT_CHECK(lists.size() >= outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i)
    if (view.node.outputs[i]) addRaster(view, i, std::move(lists[i]), graph);
  return Status::ok();
}

void GraphEncoder::addRaster(const NodeView& view, size_t i, RegionList list, EncodedGraph& graph) {
  const TensorId output = view.node.outputs[i];
  const TensorDesc& desc = graph.descs[output];
  const TensorId source =
      list.regions.empty() ? TensorId() : view.node.inputs[static_cast<size_t>(list.regions[0].source)];
  const bool known = source && graph.contents[source].has_value();
  if (options_.views && source && !known && isWholeView(list, graph.descs[source], desc)) {
    graph.alias[output] = graph.alias[source];
    return;
  }
  EncodedCommand command{&view.def, view.place.index, view.place.ordinal(i), view.node.inputs, {output}};
  command.ownParams = view.ownParams();
  // A raster touches only the inputs that its regions name.
  std::vector<bool> used(command.inputs.size(), false);
  for (const Region& region : list.regions) used[static_cast<size_t>(region.source)] = true;
  if (list.fill == RegionList::Fill::Input) used[static_cast<size_t>(list.fillInput)] = true;
  for (size_t k = 0; k < used.size(); ++k)
    if (!used[k]) command.inputs[k] = {};
  command.regions = std::move(list);
  graph.commands.push_back(std::move(command));
}

namespace {

constexpr size_t kMaxDecompositionDepth = 16;  // an operator that decomposes into itself is an error, not a hang

/// Per part: whether a shape depends on its values.
std::vector<bool> neededParts(const Decomposition& parts, const OpRegistry& registry, bool outputsAreNeeded) {
  std::vector<bool> values(parts.valueCount(), false), needed(parts.parts().size(), false);
  for (const int output : parts.outputs()) values[static_cast<size_t>(output)] = outputsAreNeeded;
  for (size_t p = needed.size(); p-- > 0;) {
    const Decomposition::Part& part = parts.parts()[p];
    const OpDef* def = registry.find(part.type);
    for (const int output : part.outputs) needed[p] = needed[p] || values[static_cast<size_t>(output)];
    for (size_t i = 0; def && i < part.inputs.size(); ++i) {
      const Port* port = portOf(def->inputs, i);
      const bool reads = (port && port->contents) || (needed[p] && !def->shapeOnly);
      if (reads && part.inputs[i] >= 0) values[static_cast<size_t>(part.inputs[i])] = true;
    }
  }
  return needed;
}

/// Tensors for the values of a decomposition: those of the node for its inputs and outputs.
std::vector<TensorId> tensorsOf(const Decomposition& parts, const ModelNode& node, EncodedGraph& graph) {
  std::vector<TensorId> tensors(parts.valueCount());
  std::vector<bool> made(parts.valueCount(), false);
  std::copy(node.inputs.begin(), node.inputs.end(), tensors.begin());
  for (const Decomposition::Part& part : parts.parts())
    for (int value : part.outputs) made[static_cast<size_t>(value)] = true;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const auto value = static_cast<size_t>(parts.outputs()[i]);
    if (made[value] && !tensors[value] && node.outputs[i]) tensors[value] = node.outputs[i];
  }
  for (size_t value = node.inputs.size(); value < tensors.size(); ++value)
    if (!tensors[value]) tensors[value] = graph.addTensor(fmt::format("{}/{}", node.name, value));
  for (const auto& [value, constant] : parts.constants()) {
    const TensorId t = tensors[static_cast<size_t>(value)];
    graph.descs[t] = constant.desc;
    graph.contents[t] = constant;
  }
  return tensors;
}

}  // namespace

Status GraphEncoder::decompose(const NodeView& view, const std::vector<TensorDesc>& outputs, EncodedGraph& graph) {
  Decomposition parts(view.node.inputs.size(), view.node.outputs.size());
  OPKIT_TRY(view.def.decompose(view.shapeArgs(), outputs, parts).withContext(view.def.type));
  return encodeParts(view, outputs, parts, graph);
}

Status GraphEncoder::encodeParts(const NodeView& view, const std::vector<TensorDesc>& outputs,
                                 const Decomposition& parts, EncodedGraph& graph) {
  const std::string& type = view.def.type;
  if (view.place.depth == kMaxDecompositionDepth)
    return Status::internal("{}: its decomposition is nested more than {} deep", type, kMaxDecompositionDepth);
  for (size_t i = 0; i < parts.outputs().size(); ++i)
    if (parts.outputs()[i] == Decomposition::kAbsent)
      return Status::internal("{}: its decomposition leaves output {} undefined", type, i);
  const std::vector<TensorId> tensors = tensorsOf(parts, view.node, graph);
  const auto tensorsFor = [&](const std::vector<int>& values) {
    std::vector<TensorId> list;
    for (int value : values) list.push_back(value < 0 ? TensorId() : tensors[static_cast<size_t>(value)]);
    return list;
  };
  size_t firstOrdinal = 0;
  NodePlace place{view.place.index, view.place.isPart() ? view.place.nextOrdinal : &firstOrdinal, view.place.depth + 1};
  const std::vector<bool> needed = neededParts(parts, registry_, view.place.needed);
  for (size_t p = 0; p < parts.parts().size(); ++p) {
    const Decomposition::Part& part = parts.parts()[p];
    place.needed = needed[p];
    const OpDef* def = registry_.find(part.type);
    if (!def) return Status::unsupported("{}: is made of '{}', which this build does not have", type, part.type);
    const ModelNode node{view.node.name, part.type, def->version, tensorsFor(part.inputs), tensorsFor(part.outputs),
                         part.params,    {}};
    OPKIT_TRY(encodeNode(node, place, graph).withContext(type));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const TensorId source = tensors[static_cast<size_t>(parts.outputs()[i])];
    const TensorId output = view.node.outputs[i];
    const TensorDesc& made = graph.descs[source];
    if (made != outputs[i])
      return Status::internal("{}: its decomposition makes output {} as {}, the shape rule says {}", type, i,
                              made.toString(), outputs[i].toString());
    if (!output || source == output) continue;
    const ModelNode copy{view.node.name, type, view.def.version, {source}, {output}, view.node.params, {}};
    const NodeView copyView{place, copy, view.def, {}, {}};
    addRaster(copyView, 0, {{contiguousRegion(0, 0, 0, outputs[i].elements())}}, graph);
  }
  return Status::ok();
}

}  // namespace opkit
