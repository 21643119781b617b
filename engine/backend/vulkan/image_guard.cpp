#include "engine/backend/vulkan/image_guard.h"

#include <cmath>

#include "engine/backend/backend.h"
#include "engine/backend/vulkan/vulkan_buffer.h"
#include "engine/backend/vulkan/vulkan_status.h"

namespace opkit::vulkan {
namespace {

/// All texels of the image as floats [rows, columns, 4].
Result<Tensor> texelsOf(Backend& backend, const std::shared_ptr<Device>& shared,
                        const std::shared_ptr<CommandPool>& pool, const VulkanImage& image) {
  Tensor copy{{image.desc.dtype, {image.rows, image.columns, 4}}, nullptr, 0, 0};
  // Not through the backend, which counts allocations.
  OPKIT_ASSIGN(const auto buffer, VulkanBuffer::create(shared, copy.sizeBytes(), MemoryUse::Tensor));
  copy.buffer = buffer;
  HeldBuffers held;
  Device& device = *shared;
  OPKIT_ASSIGN(CommandBuffer commands, CommandBuffer::create(pool));
  VkBufferImageCopy whole{};
  whole.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
  whole.imageExtent = {static_cast<uint32_t>(image.columns), static_cast<uint32_t>(image.rows), 1};
  device.vk().vkCmdCopyImageToBuffer(commands.handle(), image.handle.get(), VK_IMAGE_LAYOUT_GENERAL, held.hold(buffer),
                                     1, &whole);
  const VkMemoryBarrier visible{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, VK_ACCESS_TRANSFER_WRITE_BIT,
                                VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_HOST_READ_BIT};
  device.vk().vkCmdPipelineBarrier(commands.handle(), VK_PIPELINE_STAGE_TRANSFER_BIT,
                                   VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &visible, 0,
                                   nullptr, 0, nullptr);
  OPKIT_TRY(commands.end());
  OPKIT_ASSIGN(const Owned<VkFence> fence, createFence(device));
  OPKIT_TRY(device.submitAndWait(commands.handle(), fence.get()));
  OPKIT_ASSIGN(Tensor host, Tensor::onHost({DType::Float32, copy.desc.shape}, Fill::None));
  OPKIT_TRY(backend.download(copy, host));
  return host;
}

}  // namespace

Status checkImageGuard(Backend& backend, const std::shared_ptr<Device>& device,
                       const std::shared_ptr<CommandPool>& pool, const VulkanImage& image) {
  const ImageShape shape(image.desc.shape);
  OPKIT_ASSIGN(const Tensor texels, texelsOf(backend, device, pool, image));
  const float* at = texels.data<float>().data();
  for (int64_t row = 0; row < image.rows; ++row)
    for (int64_t column = 0; column < image.columns; ++column, at += 4) {
      const bool inside = row < shape.rows() && column < shape.columns();
      const int64_t channels = inside ? shape.channels - column / shape.width * 4 : 0;
      for (int64_t lane = std::clamp<int64_t>(channels, 0, 4); lane < 4; ++lane) {
        if (inside ? at[lane] == 0 : std::isnan(at[lane])) continue;
        return inside ? Status::internal(
                            "a kernel left {} in component {} of texel ({}, {}) of the image of {}, beyond its last "
                            "channel; it must be zero",
                            at[lane], lane, column, row, image.desc.toString())
                      : Status::internal(
                            "a kernel wrote {} to texel ({}, {}) of the image of {}, which ends at ({}, {})", at[lane],
                            column, row, image.desc.toString(), shape.columns() - 1, shape.rows() - 1);
      }
    }
  return Status::ok();
}

}  // namespace opkit::vulkan
