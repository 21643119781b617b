// What the parts of BatchNormalization share.
#pragma once

#include "engine/op/op_def.h"
#include "ops/batch_norm/batch_norm_generated.h"

namespace opkit::ops::batch_norm {

Status reference(const OracleArgs& args);

}  // namespace opkit::ops::batch_norm
