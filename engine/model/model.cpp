#include "engine/model/model.h"

#include <queue>

#include "engine/model/model_structure.h"
#include "engine/op/op_registry.h"
#include "engine/tensor/lazy_buffer.h"

namespace opkit {

TensorId Model::addTensor(std::string name, TensorDesc desc) {
  return tensors.push_back({std::move(name), std::move(desc), std::nullopt});
}

TensorId Model::addInput(std::string name, TensorDesc desc) {
  inputs.push_back(addTensor(std::move(name), std::move(desc)));
  return inputs.back();
}

TensorId Model::addConstant(std::string name, Tensor value) {
  const TensorId index = addTensor(std::move(name), value.desc);
  tensors.back().constant = std::move(value);
  return index;
}

std::vector<TensorId> Model::addNode(std::string type, std::string name, std::vector<TensorId> nodeInputs,
                                     ParamBytes params, size_t outputCount) {
  std::vector<TensorId> made;
  for (size_t i = 0; i < outputCount; ++i)
    made.push_back(addTensor(outputCount == 1 ? name : fmt::format("{}:{}", name, i)));
  nodes.push_back({std::move(name), std::move(type), 1, std::move(nodeInputs), made, std::move(params)});
  return made;
}

TensorId Model::findTensor(std::string_view name) const {
  for (const ModelTensor& tensor : tensors)
    if (tensor.name == name) return tensors.idOf(tensor);
  return {};
}

Status checkDeclared(const ModelTensor& tensor, const TensorDesc& made) {
  if (!tensor.declared || *tensor.declared == made.dtype) return Status::ok();
  return Status::invalidArgument("output '{}': the model declares {}, its nodes make {}", tensor.name,
                                 nameOf(*tensor.declared), nameOf(made.dtype));
}

namespace {

Status checkNodes(const Model& model, const OpRegistry& registry);

Status checkSubgraphs(const ModelNode& node, const OpDef& def, const OpRegistry& registry) {
  if (node.subgraphs.size() != def.subgraphs.size())
    return Status::corrupt("node '{}': {} takes {} subgraphs, found {}", node.name, node.type, def.subgraphs.size(),
                           node.subgraphs.size());
  for (size_t i = 0; i < node.subgraphs.size(); ++i) {
    if (node.subgraphs[i].name != def.subgraphs[i])
      return Status::corrupt("node '{}': expected subgraph '{}', found '{}'", node.name, def.subgraphs[i],
                             node.subgraphs[i].name);
    OPKIT_TRY(checkNodes(node.subgraphs[i].model, registry)
                  .withContext(fmt::format("'{}' of node '{}'", def.subgraphs[i], node.name)));
  }
  return Status::ok();
}

Status checkNodes(const Model& model, const OpRegistry& registry) {
  for (const ModelNode& node : model.nodes) {
    const OpDef* def = registry.find(node.type);
    if (!def) return Status::unsupported("node '{}': this build has no operator '{}'", node.name, node.type);
    if (node.version < 1 || node.version > def->version)
      return Status::unsupported("node '{}': expected {} of version 1 to {}, found version {}", node.name, node.type,
                                 def->version, node.version);
    OPKIT_TRY(checkSubgraphs(node, *def, registry));
    OPKIT_TRY(verifyParams(def->params, node.params).withContext(fmt::format("{} '{}'", node.type, node.name)));
  }
  return Status::ok();
}

}  // namespace

Status validateModel(const Model& model, const OpRegistry& registry) {
  OPKIT_TRY(checkStructure(model));  // of the subgraphs too
  return checkNodes(model, registry);
}

namespace {

std::vector<ModelTensor*> copiesOf(Model& model, size_t position, bool& isFixed) {
  std::vector<ModelTensor*> copies;
  for (ModelTensor& tensor : model.tensors) {
    if (!tensor.defaultOf || tensor.defaultOf->position != position) continue;
    isFixed = isFixed || tensor.defaultOf->isFixed;
    copies.push_back(&tensor);
  }
  for (ModelNode& node : model.nodes)
    for (Subgraph& subgraph : node.subgraphs)
      for (ModelTensor* copy : copiesOf(subgraph.model, position, isFixed)) copies.push_back(copy);
  return copies;
}

Status checkDefault(const ModelTensor& input, const Tensor& value) {
  const Shape &declared = input.defaultOf->shape, &shape = value.desc.shape;
  bool fits = value.desc.dtype == input.desc.dtype && shape.size() == declared.size();
  for (size_t d = 0; fits && d < shape.size(); ++d) fits = declared[d] == kDynamic || declared[d] == shape[d];
  return fits ? Status::ok()
              : Status::invalidArgument("input '{}': the model declares {}, got {}", input.name,
                                        TensorDesc{input.desc.dtype, declared}.toString(), value.desc.toString());
}

}  // namespace

Status replaceDefault(Model& model, const std::string& name, const Tensor& value) {
  const TensorId index = model.findTensor(name);
  if (!index || !model.tensors[index].defaultOf)
    return Status::invalidArgument("no input with a default is called '{}'", name);
  OPKIT_TRY(checkDefault(model.tensors[index], value));
  bool isFixed = false;
  const std::vector<ModelTensor*> copies = copiesOf(model, model.tensors[index].defaultOf->position, isFixed);
  const Tensor& now = *model.tensors[index].constant;
  if (now.desc == value.desc && !isObject(now.desc.dtype) &&
      std::ranges::equal(asStored(now).bytes(), asStored(value).bytes()))
    return Status::ok();
  if (isFixed) return Status::unsupported("input '{}' keeps its default: a node was imported by its value", name);
  for (ModelTensor* copy : copies) {
    copy->desc = value.desc;
    copy->constant = value;
  }
  return Status::ok();
}

namespace {

/// State of Kahn's algorithm per node, and the path back from a node to one that blocks it.
struct Ordering {
  IndexedVector<TensorId, NodeId> producer;
  IndexedVector<NodeId, std::vector<NodeId>> readers;  // the nodes that wait for it
  IndexedVector<NodeId, size_t> waiting;               // how many inputs are still to be made

  explicit Ordering(const Model& model)
      : producer(model.tensors.size()), readers(model.nodes.size()), waiting(model.nodes.size()) {
    for (const NodeId n : model.nodes.ids())
      for (const TensorId output : model.nodes[n].outputs)
        if (producer.contains(output)) producer[output] = n;
    for (const NodeId n : model.nodes.ids()) {
      for (const TensorId input : model.nodes[n].inputs) {
        const NodeId from = producerOf(input);
        if (!from) continue;
        readers[from].push_back(n);
        ++waiting[n];
      }
    }
  }
  NodeId producerOf(TensorId tensor) const { return producer.contains(tensor) ? producer[tensor] : NodeId(); }
};

/// Follows blocked inputs backwards from a blocked node until a node repeats: that one is on a cycle.
Status cycleError(const Model& model, const Ordering& ordering, NodeId blocked) {
  IndexedVector<NodeId, bool> seen(model.nodes.size(), false);
  TensorId through;
  while (!seen[blocked]) {
    seen[blocked] = true;
    for (const TensorId input : model.nodes[blocked].inputs) {
      const NodeId from = ordering.producerOf(input);
      if (!from || ordering.waiting[from] == 0) continue;
      through = input;
      blocked = from;
      break;
    }
  }
  return Status::corrupt("model: tensor '{}' depends on itself; a graph must have no cycle",
                         model.tensors[through].name);
}

}  // namespace

Result<std::vector<NodeId>> topologicalOrder(const Model& model) {
  Ordering ordering(model);
  std::priority_queue<NodeId, std::vector<NodeId>, std::greater<>> ready;
  for (const NodeId n : model.nodes.ids())
    if (ordering.waiting[n] == 0) ready.push(n);
  std::vector<NodeId> order;
  while (!ready.empty()) {
    order.push_back(ready.top());
    ready.pop();
    for (const NodeId reader : ordering.readers[order.back()])
      if (--ordering.waiting[reader] == 0) ready.push(reader);
  }
  for (const NodeId n : model.nodes.ids())
    if (ordering.waiting[n] > 0) return cycleError(model, ordering, n);
  return order;
}

Status sortTopologically(Model& model) {
  OPKIT_ASSIGN(const std::vector<NodeId> order, topologicalOrder(model));
  IndexedVector<NodeId, ModelNode> sorted;
  sorted.reserve(order.size());
  for (const NodeId n : order) sorted.push_back(std::move(model.nodes[n]));
  model.nodes = std::move(sorted);
  return Status::ok();
}

}  // namespace opkit
