// Shared by the files of Shape, Size and EyeLike.
#pragma once

#include "ops/shape/shape_parts.h"

namespace opkit::ops::shape {

Status shapeReference(const OracleArgs& args);
Status sizeReference(const OracleArgs& args);
Status eyeLikeReference(const OracleArgs& args);

}  // namespace opkit::ops::shape
