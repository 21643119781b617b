// Zero points and scales of a product of quantised operands on the CPU, in the form that engine/backend/cpu/gemm/
// byte_gemm.h takes: 32-bit integers and floats in scratch memory.
#pragma once

#include "engine/backend/cpu/gemm/byte_gemm.h"
#include "ops/integer_matmul/integer_matmul.h"

namespace opkit::ops::integer_matmul {

/// The input with this number; null if it is absent.
const Tensor* inputAt(TensorList inputs, int number);

class LineValues {
 public:
  /// Bytes of scratch memory, a multiple of 64.
  static int64_t bytesOf(const Roles& roles, TensorList inputs);
  /// Writes the values of one run to `scratch`, which is 64-byte aligned.
  LineValues(const Roles& roles, TensorList inputs, uint8_t* scratch);

  cpu::bytes::PerLine<int32_t> aZeroPoint(const Lines& lines, int64_t matrix, int64_t line = 0) const {
    return {aZeroPoint_ + matrix * lines.matrixStep + line * lines.step, lines.step};
  }
  cpu::bytes::PerLine<int32_t> bZeroPoint(const Lines& lines, int64_t matrix) const {
    return {bZeroPoint_ + matrix * lines.matrixStep, lines.step};
  }
  cpu::bytes::PerLine<float> aScale(const Lines& lines, int64_t matrix, int64_t line = 0) const {
    return {aScale_ + matrix * lines.matrixStep + line * lines.step, lines.step};
  }
  cpu::bytes::PerLine<float> bScale(const Lines& lines, int64_t matrix) const {
    return {bScale_ + matrix * lines.matrixStep, lines.step};
  }
  /// Without the scales of a and b.
  const cpu::bytes::Requantization& target() const { return target_; }

 private:
  const int32_t* aZeroPoint_;
  const int32_t* bZeroPoint_;
  const float* aScale_ = nullptr;
  const float* bScale_ = nullptr;
  cpu::bytes::Requantization target_;
};

}  // namespace opkit::ops::integer_matmul
