// Shared by the files of Sum and Mean.
#pragma once

#include "engine/op/op_def.h"

namespace opkit::ops::variadic {

Status sumReference(const OracleArgs& args);
Status meanReference(const OracleArgs& args);

}  // namespace opkit::ops::variadic
