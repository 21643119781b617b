// Pow on the CPU for an exponent of another type than the base.
#pragma once

#include "engine/backend/creator.h"

namespace opkit::ops::binary {

Creator mixedPowCreator();

}  // namespace opkit::ops::binary
