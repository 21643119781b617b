// The functions of the scalar CPU kernel: the columns `cpu` and `cpuInteger` of binary_table.h, its comparisons and
// logic as C++ functions.
#pragma once

#include <cstdint>
#include <string_view>

namespace opkit::ops::binary {

/// Exactly the functions for the operator's dtypes are called.
struct Scalars {
  double (*real)(double x, double y) = nullptr;
  int64_t (*integer)(int64_t x, int64_t y) = nullptr;
  uint64_t (*unsignedInteger)(uint64_t x, uint64_t y) = nullptr;
};

/// The functions of an operator type of the table.
Scalars scalarsOf(std::string_view type);

}  // namespace opkit::ops::binary
