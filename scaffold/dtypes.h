// The sets of element types that a spec may name.
#pragma once

#include <string>
#include <vector>

#include "engine/base/status.h"

namespace opkit::scaffold {

/// "f32|f16", or a set: floats, integers, numbers, index, bool, any. InvalidArgument lists the known ones.
Status checkDTypes(const std::string& what, const std::string& dtypes);
/// The types of a checked set, in the order in which cases list them.
std::vector<std::string> dtypeNames(const std::string& dtypes);
/// "f32" -> "Float32"; null for other types than numbers and bool.
const char* enumeratorOf(const std::string& name);
/// The C++ expression of a checked set: "kFloats", "DTypeSet{DType::Float32}".
std::string dtypeExpression(const std::string& dtypes);

}  // namespace opkit::scaffold
