#include "engine/op/oracle.h"

namespace opkit {

OracleTensor::OracleTensor(TensorDesc d) : desc(std::move(d)) {
  const auto count = static_cast<size_t>(desc.elements());
  if (isReal())
    real.assign(count, 0.0);
  else
    integer.assign(count, 0);
}

OracleTensor OracleTensor::fromTensor(const Tensor& tensor) {
  OracleTensor result(tensor.desc);
  visitDType(tensor.desc.dtype, [&](auto tag) {
    using T = decltype(tag);
    const std::span<T> source = tensor.data<T>();
    for (size_t i = 0; i < source.size(); ++i) {
      if constexpr (std::is_same_v<T, Half>)
        result.real[i] = toFloat(source[i]);
      else if constexpr (std::is_floating_point_v<T>)
        result.real[i] = source[i];
      else
        result.integer[i] = static_cast<int64_t>(source[i]);
    }
  });
  return result;
}

void OracleTensor::toTensor(const Tensor& tensor) const {
  OPKIT_CHECK(tensor.desc == desc);
  visitDType(desc.dtype, [&](auto tag) {
    using T = decltype(tag);
    const std::span<T> target = tensor.data<T>();
    for (size_t i = 0; i < target.size(); ++i) {
      if constexpr (std::is_same_v<T, Half>)
        target[i] = toHalf(real[i]);
      else if constexpr (std::is_floating_point_v<T>)
        target[i] = static_cast<T>(real[i]);
      else
        target[i] = desc.dtype == DType::Bool ? static_cast<T>(integer[i] != 0) : static_cast<T>(integer[i]);
    }
  });
}

}  // namespace opkit
