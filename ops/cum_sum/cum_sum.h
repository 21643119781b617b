// Shared by the cards of CumSum and CumProd and their oracles.
#pragma once

#include "ops/cum_sum/cum_sum_parts.h"

namespace opkit::ops::cum_sum {

/// The oracle of CumProd.
Status productReference(const OracleArgs& args);

}  // namespace opkit::ops::cum_sum
