// Batch normalisation in training: its shape rule, parts and oracle.
#pragma once

#include "ops/batch_norm/batch_norm_parts.h"

namespace opkit::ops::batch_norm {

Result<std::vector<TensorDesc>> trainingRule(const ShapeArgs& args);
Status decomposeTraining(const ShapeArgs& args, std::span<const TensorDesc> outputs, Decomposition& parts);
Status trainingReference(const OracleArgs& args);

}  // namespace opkit::ops::batch_norm
