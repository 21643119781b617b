// What the parts of Trilu share.
#pragma once

#include "engine/op/op_def.h"
#include "ops/trilu/trilu_generated.h"

namespace opkit::ops::trilu {

Status reference(const OracleArgs& args);

}  // namespace opkit::ops::trilu
