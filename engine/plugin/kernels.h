// What a plugin's operator and kernels become in the engine: a card, Creators, an ONNX rule.
#pragma once

#include "engine/backend/creator.h"
#include "engine/plugin/contents.h"

namespace opkit::plugin {

/// The card: shape rule, oracle, parameters.
OpDef cardOf(const std::string& plugin, const std::shared_ptr<const OperatorSpec>& op);
/// A kernel that runs on the host or on a plugin's backend. `schema` may be null: attributes come as JSON then.
Creator creatorOf(const std::string& plugin, const KernelSpec& kernel, void* user,
                  const std::shared_ptr<const AttributeSchema>& schema);
/// ONNX nodes "domain::Type" become the operator, attribute by attribute.
OnnxRule onnxRuleOf(const std::shared_ptr<const OperatorSpec>& op);

}  // namespace opkit::plugin
