// Shared by the files of GridSample and AffineGrid.
#pragma once

#include "engine/op/op_def.h"
#include "ops/grid_sample/affine_grid_generated.h"
#include "ops/grid_sample/grid_sample_generated.h"

namespace opkit::ops::grid_sample {

inline constexpr size_t kMaxAxes = 3;

/// The shape rule, decomposition and cost of AffineGrid.
Result<std::vector<TensorDesc>> affineGridRule(const ShapeArgs& args);
Status decomposeAffineGrid(const ShapeArgs& args, std::span<const TensorDesc> outputs, Decomposition& parts);
double affineGridFlops(const ShapeArgs& args, std::span<const TensorDesc> outputs);

Status gridSampleReference(const OracleArgs& args);
Status affineGridReference(const OracleArgs& args);

}  // namespace opkit::ops::grid_sample
