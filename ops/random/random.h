// The oracles of random numbers. The stream of a key is Philox4x32-10 (philox.h): block b of
// four words encrypts the counter (b, 0) under the key. Decision 0047.
#pragma once

#include "ops/random/random_parts.h"

namespace opkit::ops::random {

Status uniformReference(const OracleArgs& args);
Status normalReference(const OracleArgs& args);

}  // namespace opkit::ops::random
