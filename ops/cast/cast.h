// What the parts of Cast share.
#pragma once

#include "engine/op/op_def.h"
#include "ops/cast/cast_generated.h"

namespace opkit::ops::cast {

inline DType targetOf(const CastParamsT& params) { return static_cast<DType>(params.to); }

Status reference(const OracleArgs& args);

}  // namespace opkit::ops::cast
