// The operators and ONNX rules of this build, collected by the build from the folders of ops/.
#pragma once

#include "engine/import/onnx/onnx_rules.h"
#include "engine/op/op_registry.h"

namespace opkit::ops {

/// Every operator with every Creator. Built on first use; thread-safe.
const OpRegistry& builtinOps();
/// Every operator's ONNX rules.
const OnnxRules& builtinOnnxRules();

}  // namespace opkit::ops
