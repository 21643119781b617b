#include "engine/op/oracle.h"

#include "engine/tensor/float_format.h"

namespace opkit {

OracleTensor::OracleTensor(const TensorDesc& d) { reset(d); }

OracleTensor OracleTensor::fromTensor(const Tensor& tensor) {
  OracleTensor result(tensor.desc);
  result.load(tensor);
  return result;
}

void OracleTensor::reset(const TensorDesc& newDesc) {
  desc = newDesc;
  const auto count = static_cast<size_t>(desc.elements());
  real.assign(isReal() ? count : 0, 0.0);
  integer.assign(isReal() ? 0 : count, 0);
  magnitude.clear();
  terms = 1;
}

void OracleTensor::load(const Tensor& tensor) {
  desc = tensor.desc;
  magnitude.clear();
  terms = 1;
  if (isCoded(desc.dtype)) {
    const auto count = static_cast<size_t>(desc.elements());
    real.resize(isReal() ? count : 0);
    integer.resize(isReal() ? 0 : count);
    for (size_t i = 0; i < real.size(); ++i) real[i] = readCoded(tensor, i);
    for (size_t i = 0; i < integer.size(); ++i) integer[i] = static_cast<int64_t>(readCoded(tensor, i));
    return;
  }
  visitDType(tensor.desc.dtype, [&](auto tag) {
    using T = decltype(tag);
    const std::span<T> source = tensor.data<T>();
    real.resize(isReal() ? source.size() : 0);
    integer.resize(isReal() ? 0 : source.size());
    for (size_t i = 0; i < source.size(); ++i) {
      if constexpr (std::is_same_v<T, Half>)
        real[i] = toFloat(source[i]);
      else if constexpr (std::is_floating_point_v<T>)
        real[i] = source[i];
      else
        integer[i] = static_cast<int64_t>(source[i]);
    }
  });
}

void OracleTensor::toTensor(const Tensor& tensor) const {
  OPKIT_CHECK(tensor.desc == desc);
  if (isCoded(desc.dtype)) {
    for (size_t i = 0; i < real.size(); ++i) writeCoded(tensor, i, real[i]);
    for (size_t i = 0; i < integer.size(); ++i) writeCode(tensor, i, static_cast<uint32_t>(integer[i]));
    return;
  }
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
