// Division of extents into equal parts, for the tasks and blocks of matrix products.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/base/divide.h"

namespace opkit::cpu {

/// The extent of equal parts of `extent` that have at most `limit`, a multiple of `unit`.
inline int64_t evenPart(int64_t extent, int64_t limit, int64_t unit) {
  const int64_t parts = std::max<int64_t>(ceilDiv(extent, std::max(limit, unit)), 1);
  return std::max(roundUp(ceilDiv(extent, parts), unit), unit);
}

}  // namespace opkit::cpu
