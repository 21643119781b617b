#include "engine/backend/vulkan/command_encoder.h"

#include "shaders/raster/fill_zero.h"

namespace opkit::vulkan {

Result<const Tensor*> ScratchMemory::take(Backend& backend, TensorDesc desc) {
  if (used_ == tensors_.size()) tensors_.push_back(std::make_unique<Tensor>());
  Tensor& tensor = *tensors_[used_];
  if (!tensor.buffer || tensor.buffer->sizeBytes() < desc.sizeBytes()) {
    OPKIT_ASSIGN(tensor.buffer, backend.allocate(desc.sizeBytes()));
  }
  tensor.desc = std::move(desc);
  ++used_;
  return static_cast<const Tensor*>(&tensor);
}

Status CommandEncoder::fillZero(const Tensor& tensor) {
  const size_t bytes = tensor.sizeBytes();
  if (bytes % 4 == 0) return recording_.fillZero(tensor);
  using Shader = shaders::FillZero;
  const size_t word = bytes % 2 == 0 ? 2 : 1;
  const auto count = static_cast<uint32_t>(bytes / word);
  return dispatch<Shader>({*Shader::wordOfBytes(word)}, {.y = &tensor}, {.count = count}, Groups::linear(count, 64));
}

}  // namespace opkit::vulkan
