#include "engine/backend/guarded_tensor.h"

namespace opkit {
namespace {

// Not poison: a read past the end of an input then gives wrong finite values, which a maximum that drops NaN cannot
// hide.
constexpr std::byte kGuard{0xC5};
constexpr std::byte kPoison{0xFF};

Tensor bytesAt(const std::shared_ptr<Buffer>& buffer, size_t offset, size_t count) {
  return {{DType::UInt8, {static_cast<int64_t>(count)}}, buffer, offset, 0};
}

/// Position of the first byte that differs from `wanted`, or nullopt.
Result<std::optional<size_t>> firstOther(Backend& backend, const Tensor& device, std::byte wanted, bool fromEnd) {
  OPKIT_ASSIGN(const Tensor host, Tensor::onHost(device.desc, Fill::None));
  OPKIT_TRY(backend.download(device, host));
  const std::span<std::byte> bytes = host.bytes();
  for (size_t i = 0; i < bytes.size(); ++i)
    if (bytes[fromEnd ? bytes.size() - 1 - i : i] != wanted) return std::optional<size_t>(i);
  return std::optional<size_t>();
}

Status written(size_t at, bool before, std::string_view what) {
  return Status::internal("a kernel wrote {} {}; the nearest changed byte is byte {} {} it",
                          before ? "before" : "past the end of", what, at + 1, before ? "before" : "behind");
}

}  // namespace

Result<Tensor> uploadGuarded(Backend& backend, const Tensor& host, Tensor device, size_t guardBytes) {
  const size_t align = backend.alignment(), guard = (guardBytes + align - 1) / align * align;
  const size_t total = std::max<size_t>(device.sizeBytes(), 1) + 2 * guard;
  OPKIT_ASSIGN(device.buffer, backend.allocate(total));
  device.offsetBytes = device.guardBytes = guard;
  if (guard > 0) {
    const Tensor whole = bytesAt(device.buffer, 0, total);
    OPKIT_ASSIGN(const Tensor image, Tensor::onHost(whole.desc, Fill::None));
    std::ranges::fill(image.bytes(), kGuard);
    OPKIT_TRY(backend.upload(image, whole));
  }
  OPKIT_TRY(backend.upload(host, device));
  return device;
}

Status checkGuard(Backend& backend, const Tensor& tensor, std::string_view what) {
  if (tensor.guardBytes == 0) return Status::ok();
  const size_t end = tensor.offsetBytes + tensor.sizeBytes();
  OPKIT_ASSIGN(const auto before,
               firstOther(backend, bytesAt(tensor.buffer, tensor.offsetBytes - tensor.guardBytes, tensor.guardBytes),
                          kGuard, true));
  if (before) return written(*before, true, what);
  OPKIT_ASSIGN(const auto after, firstOther(backend, bytesAt(tensor.buffer, end, tensor.guardBytes), kGuard, false));
  return after ? written(*after, false, what) : Status::ok();
}

Status checkGap(Backend& backend, const Tensor& gap, std::string_view what) {
  OPKIT_ASSIGN(const auto found, firstOther(backend, gap, kPoison, false));
  return found ? written(*found, false, what) : Status::ok();
}

}  // namespace opkit
