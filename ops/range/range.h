// What the parts of Range share.
#pragma once

#include "engine/op/op_def.h"

namespace opkit::ops::range {

Status reference(const OracleArgs& args);

}  // namespace opkit::ops::range
