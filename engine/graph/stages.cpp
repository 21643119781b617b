#include "engine/graph/stages.h"

#include <set>

namespace opkit {
namespace {

/// Values computed from a model input by this are left to a run. Integers and moves are cheap and stay at resize, where
/// shapes are often computed from lengths.
bool isForARun(const OpDef& def) {
  switch (def.numeric) {
    case NumericClass::Products:
    case NumericClass::Softmax:
    case NumericClass::Norm:
    case NumericClass::Transcendental: return true;
    default: return false;
  }
}

/// Per tensor: its values are known only when a run has computed them.
class RunValues {
 public:
  RunValues(const Model& model, const OpRegistry& registry)
      : given_(model.tensors.size(), Given::No), atRun_(model.tensors.size(), false) {
    for (const TensorId input : model.inputs)
      given_[input] = isFloat(model.tensors[input].desc.dtype) ? Given::Real : Given::Yes;
    for (const ModelNode& node : model.nodes) visit(node, *registry.find(node.type));
  }

  bool contains(TensorId tensor) const { return tensor && atRun_[tensor]; }
  /// True if the node cannot be planned before input i was computed.
  bool blocks(const ModelNode& node, const OpDef& def, size_t i) const {
    const Port* port = portOf(def.inputs, i);
    return port && port->contents && contains(node.inputs[i]);
  }

 private:
  enum class Given { No, Yes, Real };  // by the caller, directly or computed from it; Real: floats of a model input

  void visit(const ModelNode& node, const OpDef& def) {
    if (def.shapeOnly) return;
    bool given = def.control != nullptr, atRun = false, isReal = false;
    for (const TensorId input : node.inputs) {
      if (!input) continue;
      given = given || given_[input] != Given::No;
      isReal = isReal || given_[input] == Given::Real;
      atRun = atRun || atRun_[input];
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const TensorId t = node.outputs[i];
      if (!t) continue;
      const Port* port = portOf(def.outputs, i);
      given_[t] = given ? Given::Yes : Given::No;
      if (!def.control) atRun_[t] = given && (atRun || isReal || isForARun(def) || (port && port->extent));
    }
  }

  IndexedVector<TensorId, Given> given_;
  IndexedVector<TensorId, bool> atRun_;
};

class Splitter {
 public:
  Splitter(const Model& model, const OpRegistry& registry)
      : model_(model), madeIn_(model.tensors.size(), kOutside), foldedBy_(model.tensors.size()) {
    findFolded(registry);
    const RunValues values(model, registry);
    IndexedVector<TensorId, size_t> ready(model.tensors.size(), 0);  // the first stage that can read it
    for (const NodeId n : model.nodes.ids()) {
      const ModelNode& node = model.nodes[n];
      const OpDef& def = *registry.find(node.type);
      const bool control = def.control != nullptr;
      size_t level = 0;
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        const TensorId t = node.inputs[i];
        if (!t) continue;
        level = std::max(level, ready[t]);
        if (values.blocks(node, def, i) && madeIn_[t] != kOutside) level = std::max(level, madeIn_[t] + 1);
      }
      if (stages_.size() <= level) {
        stages_.resize(level + 1);
        nodes_.resize(level + 1);
      }
      if (!isFolded(node)) (control ? stages_[level].control : nodes_[level]).push_back(n);
      for (const TensorId output : node.outputs) {
        if (!output) continue;
        ready[output] = level + (control ? 1 : 0);
        if (!control) madeIn_[output] = level;
      }
    }
    if (stages_.empty()) stages_.resize(1);
    nodes_.resize(stages_.size());
  }

  std::vector<Stage> run() {
    findOutputs();
    for (size_t s = 0; s < stages_.size(); ++s) build(s);
    return std::move(stages_);
  }

 private:
  static constexpr size_t kOutside = SIZE_MAX;  // an input, a constant, or made by control flow

  /// Nodes that read only constants. Each stage that reads their values computes them, when it is planned: a value from
  /// another stage would be copied in each run, and no kernel could keep it packed.
  void findFolded(const OpRegistry& registry) {
    for (const NodeId n : model_.nodes.ids()) {
      const ModelNode& node = model_.nodes[n];
      if (registry.find(node.type)->control || !std::ranges::all_of(node.inputs, [&](TensorId input) {
            return !input || model_.tensors[input].constant || foldedBy_[input];
          }))
        continue;
      for (const TensorId output : node.outputs)
        if (output) foldedBy_[output] = n;
    }
  }
  bool isFolded(const ModelNode& node) const {
    return std::ranges::any_of(node.outputs, [&](TensorId output) { return output && foldedBy_[output]; });
  }

  /// The nodes of a stage in the order of the model, with those that make its constants.
  std::vector<NodeId> nodesOf(size_t s) const {
    std::set<NodeId> nodes(nodes_[s].begin(), nodes_[s].end());
    std::vector<NodeId> readers = nodes_[s];
    const auto add = [&](TensorId tensor) {
      if (tensor && foldedBy_[tensor] && nodes.insert(foldedBy_[tensor]).second) readers.push_back(foldedBy_[tensor]);
    };
    for (const TensorId output : stages_[s].outputs) add(output);
    while (!readers.empty()) {
      const NodeId reader = readers.back();
      readers.pop_back();
      for (const TensorId input : model_.nodes[reader].inputs) add(input);
    }
    return {nodes.begin(), nodes.end()};
  }

  /// A stage gives what others read.
  void findOutputs() {
    std::vector<std::set<TensorId>> wanted(stages_.size());
    const auto want = [&](TensorId tensor, size_t reader) {
      if (!tensor) return;
      const size_t maker = madeIn_[tensor];
      const bool isOwn = maker == reader || (foldedBy_[tensor] && reader != kOutside);
      if (maker != kOutside && !isOwn) wanted[maker].insert(tensor);
    };
    for (size_t s = 0; s < stages_.size(); ++s) {
      for (const NodeId n : nodes_[s])
        for (const TensorId input : model_.nodes[n].inputs) want(input, s);
      for (const NodeId n : stages_[s].control)
        for (const TensorId input : model_.nodes[n].inputs) want(input, kOutside);
    }
    for (const TensorId output : model_.outputs) want(output, kOutside);
    for (size_t s = 0; s < stages_.size(); ++s) stages_[s].outputs.assign(wanted[s].begin(), wanted[s].end());
  }

  void build(size_t s) {
    Stage& stage = stages_[s];
    stage.model.producer = model_.producer;
    std::map<TensorId, TensorId> local;
    const auto tensorOf = [&](TensorId tensor) {
      if (!tensor) return tensor;
      if (const auto found = local.find(tensor); found != local.end()) return found->second;
      const ModelTensor& original = model_.tensors[tensor];
      const TensorId index = stage.model.tensors.push_back(original);
      stage.model.tensors[index].defaultOf.reset();  // the whole model has it
      const bool outside = madeIn_[tensor] != s && !original.constant && !foldedBy_[tensor];
      if (outside) {
        stage.model.inputs.push_back(index);
        stage.inputs.push_back(tensor);
      }
      return local[tensor] = index;
    };
    for (const NodeId n : nodesOf(s)) {
      ModelNode node = model_.nodes[n];
      for (TensorId& input : node.inputs) input = tensorOf(input);
      for (TensorId& output : node.outputs) output = tensorOf(output);
      stage.model.nodes.push_back(std::move(node));
    }
    for (const TensorId output : stage.outputs) stage.model.outputs.push_back(tensorOf(output));
  }

  const Model& model_;
  IndexedVector<TensorId, size_t> madeIn_;    // the stage whose plain nodes make it
  IndexedVector<TensorId, NodeId> foldedBy_;  // the node that makes it of constants alone
  std::vector<std::vector<NodeId>> nodes_;    // per stage, without those
  std::vector<Stage> stages_;
};

}  // namespace

bool needsStages(const Model& model, const OpRegistry& registry) {
  // Objects have no place in a backend's memory, even where a model only hands them on.
  const auto isHandedOn = [&](TensorId output) {
    const ModelTensor& tensor = model.tensors[output];
    return isObject(tensor.desc.dtype) &&
           (tensor.constant || std::ranges::find(model.inputs, output) != model.inputs.end());
  };
  if (std::ranges::any_of(model.outputs, isHandedOn)) return true;
  const RunValues values(model, registry);
  return std::ranges::any_of(model.nodes, [&](const ModelNode& node) {
    const OpDef& def = *registry.find(node.type);
    if (def.control) return true;
    for (size_t i = 0; i < node.inputs.size(); ++i)
      if (values.blocks(node, def, i)) return true;
    return false;
  });
}

std::vector<Stage> splitIntoStages(const Model& model, const OpRegistry& registry) {
  return Splitter(model, registry).run();
}

}  // namespace opkit
