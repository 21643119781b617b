// Families: operators that are rows of a table (ops/unary, ops/binary).
#pragma once

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/check.h"

namespace opkit::ops {

/// The row whose `name` is the operator's type; REQUIRES that there is one.
template <class Row>
const Row& rowNamed(std::span<const Row> rows, std::string_view type) {
  const auto found = std::ranges::find(rows, type, &Row::name);
  OPKIT_CHECK(found != rows.end());
  return *found;
}

/// Sets the edges of the row whose `name` is the operator's type.
template <class Row>
void setEdges(std::vector<Row>& rows, std::string_view type, std::vector<double> edges) {
  for (Row& row : rows)
    if (row.name == type) row.edges = std::move(edges);
}

/// A list in parentheses, as the tables have it since GLSL knows no variadic macros, in braces.
#define OPKIT_BRACED(...) \
  { __VA_ARGS__ }

}  // namespace opkit::ops
