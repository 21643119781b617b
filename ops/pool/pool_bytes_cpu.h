// MaxPool of bytes on the CPU.
#pragma once

#include "engine/backend/creator.h"

namespace opkit::ops::pool {

/// One or two spatial axes, without indices.
Creator byteMaxPool();

}  // namespace opkit::ops::pool
