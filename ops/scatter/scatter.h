// Shared by the files of ScatterElements and ScatterND.
#pragma once

#include "engine/op/hidden.h"
#include "engine/op/op_def.h"
#include "ops/scatter/scatter_generated.h"
#include "ops/scatter/scatter_nd_generated.h"

namespace opkit::ops::scatter {

Status elementsReference(const OracleArgs& args);
Status ndReference(const OracleArgs& args);
HiddenElements elementsHidden(const OracleArgs& args);
HiddenElements ndHidden(const OracleArgs& args);

Result<LoopRegion> elementsLoop(const ShapeArgs& args, std::span<const TensorDesc> outputs);
Result<LoopRegion> ndLoop(const ShapeArgs& args, std::span<const TensorDesc> outputs);

}  // namespace opkit::ops::scatter
