// The tensors around a run: the inputs of op-run and the comparison of outputs.
#pragma once

#include <string>

#include "engine/tensor/tensor.h"

namespace opkit {

/// Seeded values by element index, the same everywhere: floats in [-1, 1), integers in [0, 10), bools.
void fillRandom(const Tensor& tensor, uint64_t seed);
/// 0, 1, 2 ... scaled to [0, 1) for floats, modulo 100 for integers, alternating for bools.
void fillRamp(const Tensor& tensor);

struct TensorSummary {
  double minimum = 0;  // of the elements that are not NaN; 0 if there are none
  double maximum = 0;
  double mean = 0;
  int64_t nans = 0;
};
TensorSummary summarize(const Tensor& tensor);

struct Comparison {
  bool passed = false;
  std::string message;  // one line: the worst element, or how the descriptions differ
};
/// Passes if every element has |got - expected| <= atol + rtol * |expected|, NaN equals NaN, and an infinity equals
/// itself.
Comparison compareTensors(const Tensor& got, const Tensor& expected, double rtol, double atol);

}  // namespace opkit
