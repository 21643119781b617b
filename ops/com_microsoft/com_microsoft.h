// The import rules of com.microsoft.
#pragma once

#include "engine/import/onnx/onnx_rules.h"

namespace opkit::ops::com_microsoft {

/// "com.microsoft::" and the type.
std::string qualified(const char* type);

/// (x - zero point) * scale, of the inputs x, scale and zero point from `first` on.
int dequantized(OnnxNode& node, size_t first);
/// Emits y in the type of the zero point that is input first + 1; its scale is input `first`.
Status emitQuantized(OnnxNode& node, int y, size_t first);

void addQuantisedRules(OnnxRules& rules);

}  // namespace opkit::ops::com_microsoft
