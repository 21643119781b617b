// inlineFunctions: replaces calls of a model's own functions by the nodes of the functions.
#pragma once

#include <optional>

#include "engine/base/status.h"
#include "engine/import/onnx/onnx_proto.h"

namespace opkit {

/// "" and "ai.onnx" are the same domain.
std::string canonicalDomain(const std::string& domain);

/// The opset of the function that a node came from, if it is another than the model's.
std::optional<int64_t> opsetOfFunction(const onnx::NodeProto& node);

/// Afterwards no node calls a function of the model, in subgraphs neither. A function goes before an operator of the
/// same name. Domains that functions alone import are added to the model's. InvalidArgument: a function that calls
/// itself, a call with more inputs or outputs than the function has, two functions of one name; Unsupported: more than
/// a million nodes.
Status inlineFunctions(onnx::ModelProto& model);

}  // namespace opkit
