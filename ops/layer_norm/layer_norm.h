// Shared by LayerNormalization and InstanceNormalization: rows normalised to mean 0 and variance 1.
#pragma once

#include "engine/op/op_def.h"
#include "ops/layer_norm/instance_norm_generated.h"
#include "ops/layer_norm/layer_norm_generated.h"

namespace opkit::ops::layer_norm {

/// x seen as [rows, extent]. LayerNorm scales by position in the row; InstanceNorm by channel, of which a row has
/// `rowChannels` after each other.
struct NormRows {
  int64_t rows;
  int64_t extent;
  int64_t channels;  // 0: scale and bias are indexed by position
  float epsilon;
  int64_t rowChannels = 1;
  bool centred = true;  // false: the mean counts as 0
};

/// REQUIRES that the shape rule accepted the parameters.
NormRows layerRows(const LayerNormParamsT& params, const Shape& x);
NormRows instanceRows(const InstanceNormParamsT& params, const Shape& x);

Status layerNormReference(const OracleArgs& args);
Status instanceNormReference(const OracleArgs& args);

}  // namespace opkit::ops::layer_norm
