// Scales and zero points, for the Vulkan kernels of products of quantised operands.
#pragma once

#include "engine/backend/vulkan/vulkan_execution.h"
#include "ops/integer_matmul/integer_matmul.h"

namespace opkit::ops::integer_matmul {

/// The input with this number; null if it is absent.
const Tensor* deviceInput(TensorList inputs, int number);

/// 128, which turns the bytes of a signed type into those of an unsigned one, 128 larger; 0 for unsigned types.
int64_t flipOf(const Tensor& bytes);
/// 128 for unsigned types, which makes their bytes signed ones, 128 smaller; 0 for signed types.
int64_t signFlipOf(const Tensor& bytes);

/// The scales as f32, by a cast where they are not; for operators without scales, `other` in place of each.
struct DeviceScales {
  const Tensor *a, *b, *y, *yZeroPoint;

  static Result<DeviceScales> of(const Roles& roles, TensorList inputs, const Tensor& other, vulkan::Encoder& encoder);
};

}  // namespace opkit::ops::integer_matmul
