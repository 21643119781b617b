// Shared by the card of QuantizationRange and its oracle.
#pragma once

#include "engine/op/oracle.h"

namespace opkit::ops::dynamic_quantize {

Status rangeReference(const OracleArgs& args);

}  // namespace opkit::ops::dynamic_quantize
