// The page docs/onnx.md: every name that the importer takes, and the operators that a node of this name becomes. Pure
// functions.
#pragma once

#include <string>

#include "engine/import/onnx/onnx_rules.h"
#include "engine/op/op_registry.h"

namespace opkit::reports {

/// The whole page, one table per domain. InvalidArgument for a name without a card and without OnnxRules::note(), and
/// for a note that names an operator without a card.
Result<std::string> renderOnnxPage(const OpRegistry& registry, const OnnxRules& rules);

}  // namespace opkit::reports
