// What the parts of Where share.
#pragma once

#include "engine/op/op_def.h"

namespace opkit::ops::where {

Status reference(const OracleArgs& args);

}  // namespace opkit::ops::where
