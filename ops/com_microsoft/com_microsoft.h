// The import rules of com.microsoft.
#pragma once

#include "engine/import/onnx/onnx_rules.h"

namespace opkit::ops::com_microsoft {

/// "com.microsoft::" and the type.
std::string qualified(const char* type);

void addQuantisedRules(OnnxRules& rules);

}  // namespace opkit::ops::com_microsoft
