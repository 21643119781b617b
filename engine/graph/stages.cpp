#include "engine/graph/stages.h"

#include <set>

namespace opkit {
namespace {

class Splitter {
 public:
  Splitter(const Model& model, const OpRegistry& registry) : model_(model), madeIn_(model.tensors.size(), kOutside) {
    std::vector<size_t> ready(model.tensors.size(), 0);  // per tensor: the first stage that can read it
    for (size_t n = 0; n < model.nodes.size(); ++n) {
      const ModelNode& node = model.nodes[n];
      const bool control = registry.find(node.type)->control != nullptr;
      size_t level = 0;
      for (int input : node.inputs)
        if (input >= 0) level = std::max(level, ready[static_cast<size_t>(input)]);
      if (stages_.size() <= level) {
        stages_.resize(level + 1);
        nodes_.resize(level + 1);
      }
      (control ? stages_[level].control : nodes_[level]).push_back(n);
      for (int output : node.outputs) {
        if (output < 0) continue;
        ready[static_cast<size_t>(output)] = level + (control ? 1 : 0);
        if (!control) madeIn_[static_cast<size_t>(output)] = level;
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

  /// A stage gives what others read.
  void findOutputs() {
    std::vector<std::set<int>> wanted(stages_.size());
    const auto want = [&](int tensor, size_t reader) {
      if (tensor < 0) return;
      const size_t maker = madeIn_[static_cast<size_t>(tensor)];
      if (maker != kOutside && maker != reader) wanted[maker].insert(tensor);
    };
    for (size_t s = 0; s < stages_.size(); ++s) {
      for (size_t n : nodes_[s])
        for (int input : model_.nodes[n].inputs) want(input, s);
      for (size_t n : stages_[s].control)
        for (int input : model_.nodes[n].inputs) want(input, kOutside);
    }
    for (int output : model_.outputs) want(output, kOutside);
    for (size_t s = 0; s < stages_.size(); ++s) stages_[s].outputs.assign(wanted[s].begin(), wanted[s].end());
  }

  void build(size_t s) {
    Stage& stage = stages_[s];
    stage.model.producer = model_.producer;
    std::map<int, int> local;
    const auto tensorOf = [&](int tensor) {
      if (tensor < 0) return -1;
      if (const auto found = local.find(tensor); found != local.end()) return found->second;
      const ModelTensor& original = model_.tensors[static_cast<size_t>(tensor)];
      const int index = static_cast<int>(stage.model.tensors.size());
      stage.model.tensors.push_back(original);
      const bool outside = madeIn_[static_cast<size_t>(tensor)] != s && !original.constant;
      if (outside) {
        stage.model.inputs.push_back(index);
        stage.inputs.push_back(tensor);
      }
      return local[tensor] = index;
    };
    for (size_t n : nodes_[s]) {
      ModelNode node = model_.nodes[n];
      for (int& input : node.inputs) input = tensorOf(input);
      for (int& output : node.outputs) output = tensorOf(output);
      stage.model.nodes.push_back(std::move(node));
    }
    for (int output : stage.outputs) stage.model.outputs.push_back(tensorOf(output));
  }

  const Model& model_;
  std::vector<size_t> madeIn_;              // per tensor: the stage whose plain nodes make it
  std::vector<std::vector<size_t>> nodes_;  // per stage
  std::vector<Stage> stages_;
};

}  // namespace

bool hasControlFlow(const Model& model, const OpRegistry& registry) {
  return std::any_of(model.nodes.begin(), model.nodes.end(),
                     [&](const ModelNode& node) { return registry.find(node.type)->control != nullptr; });
}

std::vector<Stage> splitIntoStages(const Model& model, const OpRegistry& registry) {
  return Splitter(model, registry).run();
}

}  // namespace opkit
