// Shared by the files of DepthToSpace and SpaceToDepth.
#pragma once

#include "ops/space_depth/space_depth_parts.h"

namespace opkit::ops::space_depth {

Status depthToSpaceReference(const OracleArgs& args);
Status spaceToDepthReference(const OracleArgs& args);

}  // namespace opkit::ops::space_depth
