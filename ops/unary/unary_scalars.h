// The functions of the scalar CPU kernel: the column `cpu` and the integer rows of unary_table.h as C++ functions.
#pragma once

#include <cstdint>
#include <string_view>

namespace opkit::ops::unary {

/// Null where the operator does not take such elements.
struct Scalars {
  double (*real)(double x, double a, double b) = nullptr;
  bool (*test)(double x, double a, double b) = nullptr;
  int64_t (*integer)(int64_t x) = nullptr;
  uint64_t (*unsignedInteger)(uint64_t x) = nullptr;
};

/// The functions of an operator type of the table.
Scalars scalarsOf(std::string_view type);

}  // namespace opkit::ops::unary
