// A plugin's operator and kernels in the terms of the engine: a card, Creators, an ONNX rule.
#pragma once

#include "engine/backend/extra_creators.h"
#include "engine/plugin/contents.h"

namespace opkit::plugin {

/// The card: shape rule, oracle, parameters.
OpDef cardOf(const std::string& plugin, const std::shared_ptr<const OperatorSpec>& op);
/// A kernel that runs on the host or on a plugin's backend. `reader` may be null: attributes come as JSON then.
Creator creatorOf(const std::string& plugin, const KernelSpec& kernel, void* user,
                  const std::shared_ptr<const AttributeReader>& reader);
/// InvalidArgument when `registry` does not know the operator of an added kernel, when the operator takes no kernels,
/// or when the key of a kernel is taken.
Status checkAddedKernels(const std::vector<AddedKernelSpec>& kernels, const OpRegistry& registry);
/// Offers the added kernels, in the order of their announcement.
CreatorSource addedKernels(const std::string& plugin, const std::vector<AddedKernelSpec>& kernels);
/// ONNX nodes "domain::Type" become the operator, attribute by attribute.
OnnxRule onnxRuleOf(const std::shared_ptr<const OperatorSpec>& op);

}  // namespace opkit::plugin
