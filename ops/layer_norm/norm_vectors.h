// Short rows brought to mean 0 and variance 1 together, in double, by vectors that run across the rows. Compiled once
// per instruction set and chosen at run time.
#pragma once

#include <cstdint>

namespace opkit::ops::layer_norm {

/// Rows as columns side by side, as in cpu::RowTile: `step` is a multiple of 16.
struct NormColumns {
  int64_t length = 0, step = 0;
  bool centred = true;  // false: the mean counts as 0
  double epsilon = 0;
  const float* scale = nullptr;  // of each element of a row, or null
  const float* bias = nullptr;
  const float* rowScale = nullptr;  // of each row, `step` of them, or null
  const float* rowBias = nullptr;
};

/// x = (x - mean) * factor * scale + bias. Writes the mean and the factor of every row, `step` of them.
void normaliseColumns(const NormColumns& columns, float* x, double* mean, double* factor);

}  // namespace opkit::ops::layer_norm
