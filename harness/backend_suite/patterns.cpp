#include "harness/backend_suite/patterns.h"

#include <cmath>
#include <cstring>

namespace opkit::harness::backend_suite {

Result<Tensor> pattern(const TensorDesc& desc, int seed) {
  OPKIT_ASSIGN(Tensor tensor, Tensor::onHost(desc));
  if (isCoded(desc.dtype)) {
    for (size_t i = 0; i < tensor.bytes().size(); ++i) tensor.bytes()[i] = static_cast<std::byte>(i * 7 + i / 5);
    return tensor;
  }
  visitDType(desc.dtype, [&](auto zero) {
    using T = decltype(zero);
    auto values = tensor.data<T>();
    for (size_t i = 0; i < values.size(); ++i) {
      const auto number = static_cast<float>((i * 7 + static_cast<size_t>(seed) * 13 + i / 5) % 101);
      if constexpr (std::is_same_v<T, Half>)
        values[i] = toHalf(number);
      else
        values[i] = static_cast<T>(desc.dtype == DType::Bool ? std::fmod(number, 2.0f) : number);
    }
  });
  return tensor;
}

Status expectHolds(Backend& backend, const Tensor& device, const Tensor& expected, const std::string& what) {
  OPKIT_ASSIGN(const Tensor back, Tensor::onHost(expected.desc));
  std::memset(back.bytes().data(), 0xFF, back.bytes().size());
  OPKIT_TRY(backend.download(device, back));
  const auto got = back.bytes(), want = expected.bytes();
  for (size_t i = 0; i < want.size(); ++i)
    if (got[i] != want[i])
      return Status::internal("{}: {} came back with element {} wrong", what, expected.desc.toString(),
                              i * 8 / static_cast<size_t>(bitsOf(expected.desc.dtype)));
  return Status::ok();
}

Result<Tensor> toDevice(Backend& backend, const Tensor& host, Layout layout) {
  Tensor device{{backend.storageDType(host.desc.dtype), host.desc.shape}};
  device.layout = layout;
  OPKIT_ASSIGN(const size_t bytes, backend.storedBytes(device));
  OPKIT_ASSIGN(device.buffer, backend.allocate(bytes));
  OPKIT_TRY(backend.upload(host, device));
  return device;
}

}  // namespace opkit::harness::backend_suite
