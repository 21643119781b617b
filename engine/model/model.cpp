#include "engine/model/model.h"

#include <queue>

#include "engine/model/model_structure.h"
#include "engine/op/op_registry.h"

namespace opkit {

int Model::addTensor(std::string name, TensorDesc desc) {
  tensors.push_back({std::move(name), std::move(desc), std::nullopt});
  return static_cast<int>(tensors.size()) - 1;
}

int Model::addInput(std::string name, TensorDesc desc) {
  inputs.push_back(addTensor(std::move(name), std::move(desc)));
  return inputs.back();
}

int Model::addConstant(std::string name, Tensor value) {
  const int index = addTensor(std::move(name), value.desc);
  tensors.back().constant = std::move(value);
  return index;
}

std::vector<int> Model::addNode(std::string type, std::string name, std::vector<int> nodeInputs, ParamBytes params,
                                size_t outputCount) {
  std::vector<int> made;
  for (size_t i = 0; i < outputCount; ++i)
    made.push_back(addTensor(outputCount == 1 ? name : fmt::format("{}:{}", name, i)));
  nodes.push_back({std::move(name), std::move(type), 1, std::move(nodeInputs), made, std::move(params)});
  return made;
}

int Model::findTensor(std::string_view name) const {
  for (size_t i = 0; i < tensors.size(); ++i)
    if (tensors[i].name == name) return static_cast<int>(i);
  return -1;
}

Status checkDeclared(const ModelTensor& tensor, const TensorDesc& made) {
  if (!tensor.declared || *tensor.declared == made.dtype) return Status::ok();
  return Status::invalidArgument("output '{}': the model declares {}, its nodes make {}", tensor.name,
                                 nameOf(*tensor.declared), nameOf(made.dtype));
}

namespace {

Status checkSubgraphs(const ModelNode& node, const OpDef& def, const OpRegistry& registry) {
  if (node.subgraphs.size() != def.subgraphs.size())
    return Status::corrupt("node '{}': {} takes {} subgraphs, found {}", node.name, node.type, def.subgraphs.size(),
                           node.subgraphs.size());
  for (size_t i = 0; i < node.subgraphs.size(); ++i) {
    if (node.subgraphs[i].name != def.subgraphs[i])
      return Status::corrupt("node '{}': expected subgraph '{}', found '{}'", node.name, def.subgraphs[i],
                             node.subgraphs[i].name);
    OPKIT_TRY(validateModel(node.subgraphs[i].model, registry)
                  .withContext(fmt::format("'{}' of node '{}'", def.subgraphs[i], node.name)));
  }
  return Status::ok();
}

}  // namespace

Status validateModel(const Model& model, const OpRegistry& registry) {
  OPKIT_TRY(checkStructure(model));
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

namespace {

/// State of Kahn's algorithm per node, and the path back from a node to one that blocks it.
struct Ordering {
  std::vector<int> producer;                 // per tensor, the node that makes it or -1
  std::vector<std::vector<size_t>> readers;  // per node, the nodes that wait for it
  std::vector<size_t> waiting;               // per node, how many inputs are still to be made
};

Ordering orderingOf(const Model& model) {
  Ordering ordering{std::vector<int>(model.tensors.size(), -1), std::vector<std::vector<size_t>>(model.nodes.size()),
                    std::vector<size_t>(model.nodes.size(), 0)};
  const auto inRange = [&](int index) { return index >= 0 && static_cast<size_t>(index) < model.tensors.size(); };
  for (size_t n = 0; n < model.nodes.size(); ++n)
    for (int index : model.nodes[n].outputs)
      if (inRange(index)) ordering.producer[static_cast<size_t>(index)] = static_cast<int>(n);
  for (size_t n = 0; n < model.nodes.size(); ++n) {
    for (int index : model.nodes[n].inputs) {
      const int from = inRange(index) ? ordering.producer[static_cast<size_t>(index)] : -1;
      if (from < 0) continue;
      ordering.readers[static_cast<size_t>(from)].push_back(n);
      ++ordering.waiting[n];
    }
  }
  return ordering;
}

/// Follows blocked inputs backwards from a blocked node until a node repeats: that one is on a cycle.
Status cycleError(const Model& model, const Ordering& ordering, size_t blocked) {
  std::vector<bool> seen(model.nodes.size(), false);
  int through = -1;
  while (!seen[blocked]) {
    seen[blocked] = true;
    for (int index : model.nodes[blocked].inputs) {
      const int from = index >= 0 ? ordering.producer[static_cast<size_t>(index)] : -1;
      if (from < 0 || (ordering.waiting[static_cast<size_t>(from)] == 0)) continue;
      through = index;
      blocked = static_cast<size_t>(from);
      break;
    }
  }
  return Status::corrupt("model: tensor '{}' depends on itself; a graph must have no cycle",
                         model.tensors[static_cast<size_t>(through)].name);
}

}  // namespace

Result<std::vector<size_t>> topologicalOrder(const Model& model) {
  Ordering ordering = orderingOf(model);
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t n = 0; n < model.nodes.size(); ++n)
    if (ordering.waiting[n] == 0) ready.push(n);
  std::vector<size_t> order;
  while (!ready.empty()) {
    order.push_back(ready.top());
    ready.pop();
    for (size_t reader : ordering.readers[order.back()])
      if (--ordering.waiting[reader] == 0) ready.push(reader);
  }
  for (size_t n = 0; n < model.nodes.size(); ++n)
    if (ordering.waiting[n] > 0) return cycleError(model, ordering, n);
  return order;
}

Status sortTopologically(Model& model) {
  OPKIT_ASSIGN(const std::vector<size_t> order, topologicalOrder(model));
  std::vector<ModelNode> sorted;
  sorted.reserve(order.size());
  for (size_t n : order) sorted.push_back(std::move(model.nodes[n]));
  model.nodes = std::move(sorted);
  return Status::ok();
}

}  // namespace opkit
