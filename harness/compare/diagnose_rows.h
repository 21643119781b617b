// diagnoseRows: rows that are wrong by one factor or one term each.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "harness/compare/diagnose.h"

namespace opkit::harness {

/// Rows along one axis, or blocks of the last axes, in which every element is the right one times a factor, or plus a
/// term, of that row: a sum, a norm or a maximum of the row is wrong. nullopt if fewer than two rows show it, or if all
/// have the same factor. `near(a, b)` is true for values that count as equal.
std::optional<Diagnosis> diagnoseRows(const Shape& shape, const std::vector<double>& got,
                                      const std::vector<double>& want, const std::vector<bool>& wrong,
                                      const std::function<bool(double a, double b)>& near);

}  // namespace opkit::harness
