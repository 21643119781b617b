// The Vulkan kernel of MaxPool with indices, and of the types that the others do not take.
#pragma once

#include "engine/backend/creator.h"

namespace opkit::ops::pool {

Creator placesCreator();

}  // namespace opkit::ops::pool
