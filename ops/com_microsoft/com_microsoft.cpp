// Operators of the ONNX domain com.microsoft, which ONNX Runtime's exporters and optimisers write: import rules alone
// (com_microsoft_onnx.cpp and the files *_rules.cpp), made of other operators.
#include "ops/com_microsoft/com_microsoft_parts.h"

namespace opkit::ops::com_microsoft {

void define(OpRegistry&) {}

}  // namespace opkit::ops::com_microsoft
