#include "harness/guest/guest_memory.h"

#include <algorithm>

namespace opkit::harness {
namespace {

constexpr size_t kGuardBytes = 64;
constexpr std::byte kGuard{0xA5}, kPoison{0xFF};

}  // namespace

Result<Tensor> poisonedOutput(const TensorDesc& desc) {
  OPKIT_ASSIGN(const auto memory, HostBuffer::create(desc.sizeBytes() + 2 * kGuardBytes, Fill::None));
  std::fill_n(memory->hostData(), memory->sizeBytes(), kGuard);
  Tensor tensor{desc, memory, kGuardBytes, kGuardBytes};
  std::ranges::fill(tensor.bytes(), kPoison);
  return tensor;
}

std::optional<int64_t> changedAround(const Tensor& output) {
  const std::byte* const begin = output.bytes().data();
  const auto size = static_cast<int64_t>(output.sizeBytes());
  for (int64_t i = 0; i < static_cast<int64_t>(kGuardBytes); ++i) {
    if (begin[size + i] != kGuard) return size + i;
    if (begin[-1 - i] != kGuard) return -1 - i;
  }
  return std::nullopt;
}

}  // namespace opkit::harness
