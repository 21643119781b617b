#include "ops/integer_matmul/line_values.h"

#include "engine/backend/cpu/vector_ops.h"
#include "ops/cast/codes.h"

namespace opkit::ops::integer_matmul {
namespace {

namespace bytes = cpu::bytes;

int64_t partBytes(const Tensor* values) { return ((values ? values->desc.elements() : 1) * 4 + 63) / 64 * 64; }

int64_t valueAt(const Tensor& tensor, int64_t i) {
  const std::byte byte = tensor.bytes()[static_cast<size_t>(i)];
  return tensor.desc.dtype == DType::Int8 ? std::to_integer<int8_t>(byte) : std::to_integer<uint8_t>(byte);
}

const int32_t* widen(const Tensor* zeroPoint, int32_t offset, uint8_t*& scratch) {
  auto* to = reinterpret_cast<int32_t*>(scratch);
  to[0] = offset;
  if (zeroPoint)
    for (int64_t i = 0; i < zeroPoint->desc.elements(); ++i)
      to[i] = static_cast<int32_t>(valueAt(*zeroPoint, i)) + offset;
  scratch += partBytes(zeroPoint);
  return to;
}

const float* asFloats(const Tensor& scale, uint8_t*& scratch) {
  auto* to = reinterpret_cast<float*>(scratch);
  const int64_t count = scale.desc.elements();
  if (scale.desc.dtype == DType::Float16)
    cpu::widenHalves(scale.data<Half>().data(), to, count);
  else if (scale.desc.dtype == DType::BFloat16)
    cast::decodeAll(DType::BFloat16, scale.bytes().data(), to, count);
  else
    std::copy_n(scale.data<float>().data(), count, to);
  scratch += partBytes(&scale);
  return to;
}

}  // namespace

const Tensor* inputAt(TensorList inputs, int number) {
  const auto i = static_cast<size_t>(number);
  return number >= 0 && i < inputs.size() ? inputs[i] : nullptr;
}

int64_t LineValues::bytesOf(const Roles& roles, TensorList inputs) {
  int64_t sum = 0;
  for (const int number : {roles.aZeroPoint, roles.bZeroPoint, roles.aScale, roles.bScale, roles.yScale})
    sum += partBytes(inputAt(inputs, number));
  return sum;
}

LineValues::LineValues(const Roles& roles, TensorList inputs, uint8_t* scratch) {
  const bool isSignedA = inputAt(inputs, roles.a)->desc.dtype == DType::Int8;
  const bool isSignedB = inputAt(inputs, roles.b)->desc.dtype == DType::Int8;
  aZeroPoint_ = widen(inputAt(inputs, roles.aZeroPoint), bytes::leftOffset(isSignedA), scratch);
  bZeroPoint_ = widen(inputAt(inputs, roles.bZeroPoint), bytes::rightOffset(isSignedB), scratch);
  if (!roles.isQuantized()) return;
  aScale_ = asFloats(*inputAt(inputs, roles.aScale), scratch);
  bScale_ = asFloats(*inputAt(inputs, roles.bScale), scratch);
  const Tensor& zeroPoint = *inputAt(inputs, roles.yZeroPoint);
  target_.target = *asFloats(*inputAt(inputs, roles.yScale), scratch);
  target_.zeroPoint = static_cast<int32_t>(valueAt(zeroPoint, 0));
  target_.isSigned = zeroPoint.desc.dtype == DType::Int8;
}

}  // namespace opkit::ops::integer_matmul
