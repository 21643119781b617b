#include "engine/graph/encoder.h"

namespace opkit {
namespace {

std::string nodeContext(const ModelNode& node) { return fmt::format("node '{}'", node.name); }

Status runRegions(Backend& reference, const RegionList& regions, std::span<const Tensor* const> inputs,
                  const Tensor& output) {
  OPKIT_ASSIGN(auto raster, reference.createRaster());
  raster->setRegions(regions);
  const Tensor* const outputs[] = {&output};
  OPKIT_TRY(raster->onResize(inputs, outputs));
  return raster->onExecute(inputs, outputs);
}

Status runOracle(Backend& reference, const OpDef& def, std::span<const uint8_t> params,
                 std::span<const Tensor* const> inputs, std::span<const TensorDesc> outputDescs,
                 std::span<const Tensor> outputs) {
  std::vector<const TensorDesc*> inputDescs;
  for (const Tensor* input : inputs) inputDescs.push_back(input ? &input->desc : nullptr);
  const std::vector<const Tensor*> noConstants(inputs.size(), nullptr);
  const CreateArgs args{def, params, inputDescs, outputDescs, noConstants, reference.caps()};
  const Choice choice = chooseCreator(reference.creators(def), args);
  if (!choice.creator) return Status::unsupported("{}: has no oracle to be computed with at resize", def.type);
  OPKIT_ASSIGN(auto execution, choice.creator->create(args, reference));
  std::vector<const Tensor*> outputList;
  for (const Tensor& output : outputs) outputList.push_back(&output);
  OPKIT_TRY(execution->onResize(inputs, outputList));
  return execution->onExecute(inputs, outputList);
}

/// A shape-only operator never reads values: its oracle gets descriptions without elements.
Result<std::vector<Tensor>> evaluateShapeOnly(const OpDef& def, std::span<const uint8_t> params,
                                              std::span<const TensorDesc* const> inputDescs,
                                              std::span<const TensorDesc> outputDescs) {
  std::vector<OracleTensor> inputs(inputDescs.size());
  std::vector<const OracleTensor*> inputList;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputDescs[i]) inputs[i].desc = *inputDescs[i];
    inputList.push_back(inputDescs[i] ? &inputs[i] : nullptr);
  }
  std::vector<OracleTensor> results;
  for (const TensorDesc& desc : outputDescs) results.emplace_back(desc);
  OPKIT_TRY(def.oracle({params, inputList, results, false}));
  std::vector<Tensor> outputs;
  for (const OracleTensor& result : results) {
    OPKIT_ASSIGN(Tensor output, Tensor::onHost(result.desc));
    result.toTensor(output);
    outputs.push_back(std::move(output));
  }
  return outputs;
}

/// Whether the output is its source's bytes in the same order.
bool isView(const RegionList& list, const TensorDesc& source, const TensorDesc& output) {
  if (list.regions.size() != 1 || list.fill != RegionList::Fill::None) return false;
  if (source.elements() != output.elements() || source.dtype != output.dtype) return false;
  const Region region = collapse(list.regions.front());
  if (region.sourceOffset != 0 || region.offset != 0) return false;
  return region.size.empty() || (region.size.size() == 1 && region.sourceStrides[0] == 1 && region.strides[0] == 1);
}

}  // namespace

struct GraphEncoder::NodeView {
  size_t index;
  const ModelNode& node;
  const OpDef& def;
  std::vector<const TensorDesc*> inputs;
  std::vector<const Tensor*> contents;

  ShapeArgs shapeArgs() const { return {node.params, inputs, contents, node.outputs.size()}; }
};

Result<std::vector<Tensor>> evaluateOnHost(Backend& reference, const OpDef& def, std::span<const uint8_t> params,
                                           std::span<const Tensor* const> inputs,
                                           std::span<const TensorDesc> outputDescs) {
  std::vector<Tensor> outputs;
  for (const TensorDesc& desc : outputDescs) {
    OPKIT_ASSIGN(Tensor output, Tensor::onHost(desc));
    outputs.push_back(std::move(output));
  }
  if (!def.lower) {
    OPKIT_TRY(runOracle(reference, def, params, inputs, outputDescs, outputs));
    return outputs;
  }
  std::vector<const TensorDesc*> inputDescs;
  for (const Tensor* input : inputs) inputDescs.push_back(input ? &input->desc : nullptr);
  OPKIT_ASSIGN(auto lists, def.lower({params, inputDescs, inputs, outputs.size()}, outputDescs));
  for (size_t i = 0; i < outputs.size(); ++i) OPKIT_TRY(runRegions(reference, lists[i], inputs, outputs[i]));
  return outputs;
}

GraphEncoder::GraphEncoder(const Model& model, const OpRegistry& registry, Backend& reference, EncodeOptions options)
    : model_(model),
      registry_(registry),
      reference_(reference),
      options_(options),
      contentPlan_(planContents(model, registry)),
      foldedConstants_(model.tensors.size()) {}

Result<EncodedGraph> GraphEncoder::encode(std::span<const Tensor> inputs) {
  EncodedGraph graph;
  const size_t count = model_.tensors.size();
  graph.descs.resize(count);
  graph.contents.resize(count);
  graph.constant.assign(count, false);
  for (size_t t = 0; t < count; ++t) {
    graph.alias.push_back(static_cast<int>(t));
    if (!model_.tensors[t].constant) continue;
    graph.descs[t] = model_.tensors[t].desc;
    graph.contents[t] = model_.tensors[t].constant;
    graph.constant[t] = true;
  }
  for (size_t i = 0; i < inputs.size(); ++i) graph.descs[static_cast<size_t>(model_.inputs[i])] = inputs[i].desc;
  for (int position : contentPlan_.inputs) {
    const auto i = static_cast<size_t>(position);
    graph.contents[static_cast<size_t>(model_.inputs[i])] = inputs[i];
  }
  for (size_t n = 0; n < model_.nodes.size(); ++n)
    OPKIT_TRY(encodeNode(n, graph).withContext(nodeContext(model_.nodes[n])));
  return graph;
}

Status GraphEncoder::encodeNode(size_t index, EncodedGraph& graph) {
  const ModelNode& node = model_.nodes[index];
  NodeView view{index, node, *registry_.find(node.type), {}, {}};
  bool allKnown = true;
  for (int input : node.inputs) {
    const auto t = static_cast<size_t>(input);
    view.inputs.push_back(input < 0 ? nullptr : &graph.descs[t]);
    view.contents.push_back(input < 0 || !graph.contents[t] ? nullptr : &*graph.contents[t]);
    allKnown = allKnown && (input < 0 || graph.contents[t]);
  }
  OPKIT_ASSIGN(const std::vector<TensorDesc> outputs, inferShapes(view.def, view.shapeArgs()));
  for (size_t i = 0; i < outputs.size(); ++i)
    if (node.outputs[i] >= 0) graph.descs[static_cast<size_t>(node.outputs[i])] = outputs[i];
  if (allKnown || view.def.shapeOnly) return fold(view, outputs, graph);
  if (view.def.lower) return lower(view, outputs, graph);
  const double flops = view.def.flops ? view.def.flops(view.shapeArgs(), outputs)
                                      : static_cast<double>(outputs.empty() ? 0 : outputs[0].elements());
  graph.commands.push_back({&view.def, static_cast<int>(index), 0, node.inputs, node.outputs, std::nullopt, flops});
  return Status::ok();
}

Status GraphEncoder::fold(const NodeView& view, const std::vector<TensorDesc>& outputs, EncodedGraph& graph) {
  bool constant = !view.def.shapeOnly;
  for (int input : view.node.inputs) constant = constant && (input < 0 || graph.constant[static_cast<size_t>(input)]);
  ++graph.foldedNodes;

  const auto isKept = [&](int output) { return output < 0 || foldedConstants_[static_cast<size_t>(output)]; };
  const bool kept = constant && std::all_of(view.node.outputs.begin(), view.node.outputs.end(), isKept);
  std::vector<Tensor> values;
  if (!kept) {
    if (view.def.shapeOnly) {
      OPKIT_ASSIGN(values, evaluateShapeOnly(view.def, view.node.params, view.inputs, outputs));
    } else {
      OPKIT_ASSIGN(values, evaluateOnHost(reference_, view.def, view.node.params, view.contents, outputs));
    }
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (view.node.outputs[i] < 0) continue;
    const auto t = static_cast<size_t>(view.node.outputs[i]);
    graph.contents[t] = kept ? foldedConstants_[t] : std::optional<Tensor>(values[i]);
    graph.constant[t] = constant;
    if (constant) foldedConstants_[t] = graph.contents[t];
  }
  return Status::ok();
}

Status GraphEncoder::lower(const NodeView& view, const std::vector<TensorDesc>& outputs, EncodedGraph& graph) {
  OPKIT_ASSIGN(auto lists, view.def.lower(view.shapeArgs(), outputs));
  OPKIT_CHECK(lists.size() >= outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (view.node.outputs[i] < 0) continue;
    const int output = view.node.outputs[i];
    const int source =
        lists[i].regions.empty() ? -1 : view.node.inputs[static_cast<size_t>(lists[i].regions[0].source)];
    const bool known = source >= 0 && graph.contents[static_cast<size_t>(source)].has_value();
    if (options_.views && source >= 0 && !known &&
        isView(lists[i], graph.descs[static_cast<size_t>(source)], outputs[i])) {
      graph.alias[static_cast<size_t>(output)] = graph.alias[static_cast<size_t>(source)];
      continue;
    }
    EncodedCommand command{&view.def, static_cast<int>(view.index), i, view.node.inputs, {output}, {}, 0};
    // A raster touches only the inputs that its regions name.
    std::vector<bool> used(command.inputs.size(), false);
    for (const Region& region : lists[i].regions) used[static_cast<size_t>(region.source)] = true;
    if (lists[i].fill == RegionList::Fill::Input) used[static_cast<size_t>(lists[i].fillInput)] = true;
    for (size_t k = 0; k < used.size(); ++k)
      if (!used[k]) command.inputs[k] = -1;
    command.regions = std::move(lists[i]);
    graph.commands.push_back(std::move(command));
  }
  return Status::ok();
}

}  // namespace opkit
