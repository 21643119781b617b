// Shared by the cards of the operators on bits and their oracles.
#pragma once

#include "engine/op/oracle.h"

namespace opkit::ops::bits {

Status bitwiseNot(const OracleArgs& args);
Status bitCast(const OracleArgs& args);

}  // namespace opkit::ops::bits
