#include "engine/backend/vulkan/command_encoder.h"

#include "shaders/raster/fill_zero.h"

namespace opkit::vulkan {

void ScratchMemory::restart(size_t alignment, const Tensor& memory, size_t guardBytes) {
  tensors_.clear();
  gaps_.clear();
  memory_ = memory;
  alignment_ = alignment;
  guardBytes_ = (guardBytes + alignment - 1) / alignment * alignment;
  usedBytes_ = 0;
}

Result<const Tensor*> ScratchMemory::take(TensorDesc desc) {
  const size_t first = usedBytes_, size = desc.sizeBytes();
  usedBytes_ += (size + alignment_ - 1) / alignment_ * alignment_ + guardBytes_;
  if (memory_.buffer && usedBytes_ > memory_.sizeBytes())
    return Status::internal("vulkan: scratch of {} bytes was planned, a kernel takes {}", memory_.sizeBytes(),
                            usedBytes_);
  tensors_.push_back(
      std::make_unique<Tensor>(Tensor{std::move(desc), memory_.buffer, memory_.offsetBytes + first, guardBytes_}));
  if (guardBytes_ > 0 && memory_.buffer)
    gaps_.push_back({{DType::UInt8, {static_cast<int64_t>(usedBytes_ - first - size)}},
                     memory_.buffer,
                     memory_.offsetBytes + first + size,
                     0});
  return static_cast<const Tensor*>(tensors_.back().get());
}

Status CommandEncoder::fillZero(const Tensor& tensor) {
  const size_t bytes = tensor.sizeBytes();
  if (bytes % 4 == 0) return recording_.fillZero(tensor);
  using Shader = shaders::FillZero;
  const size_t word = bytes % 2 == 0 ? 2 : 1;
  const auto count = static_cast<uint32_t>(bytes / word);
  return dispatch<Shader>({*Shader::wordOfBytes(word)}, {.y = &tensor}, {.count = count}, Items{count});
}

}  // namespace opkit::vulkan
