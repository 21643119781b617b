// ContentPlan: the tensors whose values, not only shapes, are needed to plan a model.
//
// A shape rule may read values (Reshape's `shape`). Those values come from constants, from other shapes, or
// from model inputs; in the last case the session must read the input before it can plan. Immutable.
#pragma once

#include <vector>

#include "engine/model/model.h"
#include "engine/op/op_registry.h"

namespace opkit {

struct ContentPlan {
  IndexedVector<TensorId, bool> needed;  // its values are needed at resize
  std::vector<size_t> inputs;            // model inputs among them, as positions in Model::inputs
};

/// REQUIRES a valid model (validateModel).
ContentPlan planContents(const Model& model, const OpRegistry& registry);

}  // namespace opkit
