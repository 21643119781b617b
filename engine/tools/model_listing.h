// A readable listing of a model, for op-convert --dump.
#pragma once

#include <string>

#include "engine/model/model.h"

namespace opkit {

/// Inputs, outputs, constants and nodes with their parameters as JSON, one per line. The model was validated.
std::string listModel(const Model& model, const OpRegistry& registry);

}  // namespace opkit
