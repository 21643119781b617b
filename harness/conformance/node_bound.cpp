#include "harness/conformance/node_bound.h"

#include <algorithm>
#include <cmath>

#include "engine/op/op_registry.h"
#include "harness/compare/expected.h"

namespace opkit::harness {

std::optional<NodeBound> NodeBound::of(const Model& model, const OpRegistry& registry) {
  if (model.nodes.size() != 1) return std::nullopt;
  const ModelNode& node = *model.nodes.begin();
  NodeBound bound;
  bound.def_ = registry.find(node.type);
  if (!bound.def_ || !bound.def_->oracle || !node.subgraphs.empty()) return std::nullopt;
  bound.params_ = node.params;
  bound.outputCount_ = node.outputs.size();
  for (const TensorId id : node.inputs) {
    Input& input = bound.inputs_.emplace_back();
    if (!id) continue;
    input.constant = model.tensors[id].constant;
    if (!input.constant) input.name = model.tensors[id].name;
  }
  for (const TensorId id : model.outputs) {
    const auto made = std::ranges::find(node.outputs, id);
    if (made == node.outputs.end()) return std::nullopt;
    bound.outputs_.push_back(static_cast<size_t>(made - node.outputs.begin()));
  }
  return bound;
}

void NodeBound::widen(const std::map<std::string, Tensor>& given, size_t index, const OracleTensor& expected,
                      Tolerance& tolerance) const {
  std::vector<std::optional<Tensor>> inputs;
  for (const Input& input : inputs_) {
    inputs.push_back(input.constant);
    if (input.name.empty()) continue;
    const auto found = given.find(input.name);
    if (found == given.end()) return;
    inputs.back() = found->second;
  }
  const auto exact = expectedOutputs(*def_, params_, inputs, outputCount_);
  if (!exact) return;
  const OracleTensor& value = (*exact)[outputs_[index]];
  if (value.desc != expected.desc) return;
  const Tolerance card = toleranceOf(*def_, Lane::Normal, value);
  for (size_t i = 0; i < std::min(card.bound.size(), tolerance.bound.size()); ++i) {
    const double error = std::fabs(expected.real[i] - value.real[i]);
    if (error <= card.bound[i]) tolerance.bound[i] = std::max(tolerance.bound[i], card.bound[i] + error);
  }
}

}  // namespace opkit::harness
