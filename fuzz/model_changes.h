// What differs between two models that the importer makes of one node, by the names of fields and constants.
#pragma once

#include <nlohmann/json.hpp>

#include "engine/model/model.h"
#include "harness/export/operator_facts.h"

namespace opkit::fuzz {

/// The changed fields of parameters, and the changed constants by the name behind the node's; each with its value in
/// `after`. Empty if nodes come, go or change their operators, or if nothing but connections and subgraphs differ.
std::vector<std::pair<std::string, nlohmann::json>> changedValues(const Model& before, const Model& after);

/// Whether a field or a constant has the value of an attribute, which is text as in onnx_operators.tsv.
bool holdsValue(const nlohmann::json& found, const harness::AttributeFact& attribute, const std::string& value);

/// A name without case and punctuation.
std::string plainName(const std::string& name);

}  // namespace opkit::fuzz
