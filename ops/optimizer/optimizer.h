// The oracles of the optimizers.
#pragma once

#include "ops/optimizer/optimizer_parts.h"

namespace opkit::ops::optimizer {

Status adagradReference(const OracleArgs& args);
Status adamReference(const OracleArgs& args);
Status momentumReference(const OracleArgs& args);

}  // namespace opkit::ops::optimizer
