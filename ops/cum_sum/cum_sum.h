// What the parts of CumSum share.
#pragma once

#include "engine/op/op_def.h"
#include "ops/cum_sum/cum_sum_generated.h"

namespace opkit::ops::cum_sum {

Status reference(const OracleArgs& args);

}  // namespace opkit::ops::cum_sum
