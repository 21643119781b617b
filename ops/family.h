// Families: operators that are rows of a table (ops/unary, ops/binary).
#pragma once

#include <algorithm>
#include <span>
#include <string_view>

#include "engine/base/check.h"

namespace opkit::ops {

/// The row whose `name` is the operator's type; REQUIRES that there is one.
template <class Row>
const Row& rowNamed(std::span<const Row> rows, std::string_view type) {
  const auto found = std::ranges::find(rows, type, &Row::name);
  OPKIT_CHECK(found != rows.end());
  return *found;
}

}  // namespace opkit::ops
