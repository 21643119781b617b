// A network with each kind of node that `op-harness cases` tells apart. Tests only.
#pragma once

#include "engine/model/model.h"

namespace opkit::harness {

/// x f32[?,8] -> MatMul "first" -> MatMul "second", with other weights -> Reshape "rows" to [-1,4] and "pairs" to
/// [-1,2]; If "choose" of "rows", which holds two nodes; Relu "after" of it.
inline Model mixedNetwork() {
  const auto integers = [](const std::vector<int64_t>& values) {
    return *Tensor::fromValues<int64_t>({DType::Int64, {static_cast<int64_t>(values.size())}}, values);
  };
  const auto weights = [](float scale) {
    std::vector<float> values;
    for (size_t i = 0; i < 64; ++i) values.push_back(scale * (static_cast<float>(i) - 31.5f) / 32);
    return *Tensor::fromValues<float>({DType::Float32, {8, 8}}, values);
  };
  Model model;
  const TensorId x = model.addInput("x", {DType::Float32, {kDynamic, 8}});
  const TensorId when = model.addInput("when", {DType::Bool, {}});
  const TensorId first = model.addNode("MatMul", "first", {x, model.addConstant("w1", weights(1))})[0];
  const TensorId second = model.addNode("MatMul", "second", {first, model.addConstant("w2", weights(0.5f))})[0];
  const TensorId rows = model.addNode("Reshape", "rows", {second, model.addConstant("four", integers({-1, 4}))})[0];
  model.outputs = model.addNode("Reshape", "pairs", {second, model.addConstant("two", integers({-1, 2}))});
  Model branch;
  branch.outputs = branch.addNode("Neg", "negated", {branch.addInput("rows", {})});
  const TensorId chosen = model.addNode("If", "choose", {when, rows})[0];
  model.nodes.back().subgraphs = {{"then_branch", branch, {1}}, {"else_branch", branch, {1}}};
  model.outputs.push_back(model.addNode("Relu", "after", {chosen})[0]);
  return model;
}

}  // namespace opkit::harness
