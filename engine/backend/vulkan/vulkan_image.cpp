#include "engine/backend/vulkan/vulkan_image.h"

#include <algorithm>
#include <array>

#include "engine/backend/vulkan/vulkan_buffer.h"
#include "engine/backend/vulkan/vulkan_status.h"

namespace opkit::vulkan {
namespace {

/// Columns and rows of an image. One that fills the device's limit has no guard.
std::array<int64_t, 2> sizeOf(const Device& device, const ImageShape& shape, bool guarded) {
  const auto limit = static_cast<int64_t>(device.limits().maxImageDimension2D) - kImageGuard;
  if (!guarded || shape.columns() > limit || shape.rows() > limit) return {shape.columns(), shape.rows()};
  return {shape.columns() + kImageGuard, shape.rows() + kImageGuard};
}

Result<Owned<VkImage>> createImage(const Device& device, const TensorDesc& desc, bool guarded) {
  const ImageShape shape(desc.shape);
  const auto limit = static_cast<int64_t>(device.limits().maxImageDimension2D);
  if (shape.texels() == 0 || shape.columns() > limit || shape.rows() > limit)
    return Status::unsupported("vulkan: {} as an image has {} x {} texels, the device allows 1 to {} each way",
                               desc.toString(), shape.columns(), shape.rows(), limit);
  if (desc.dtype != DType::Float32 && desc.dtype != DType::Float16)
    return Status::unsupported("vulkan: images hold f32 or f16, got {}", desc.toString());
  VkImageCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
  info.imageType = VK_IMAGE_TYPE_2D;
  info.format = desc.dtype == DType::Float16 ? VK_FORMAT_R16G16B16A16_SFLOAT : VK_FORMAT_R32G32B32A32_SFLOAT;
  const auto [columns, rows] = sizeOf(device, shape, guarded);
  info.extent = {static_cast<uint32_t>(columns), static_cast<uint32_t>(rows), 1};
  info.mipLevels = info.arrayLayers = 1;
  info.samples = VK_SAMPLE_COUNT_1_BIT;
  info.tiling = VK_IMAGE_TILING_OPTIMAL;
  info.usage = VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
               VK_IMAGE_USAGE_TRANSFER_DST_BIT;
  VkImage handle = VK_NULL_HANDLE;
  OPKIT_VK_CREATE(device, device.vk().vkCreateImage(device.handle(), &info, nullptr, &handle), "creating an image");
  return Owned<VkImage>(device, handle, device.vk().vkDestroyImage);
}

Result<Owned<VkImageView>> createView(const Device& device, VkImage image, DType dtype) {
  VkImageViewCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO};
  info.image = image;
  info.viewType = VK_IMAGE_VIEW_TYPE_2D;
  info.format = dtype == DType::Float16 ? VK_FORMAT_R16G16B16A16_SFLOAT : VK_FORMAT_R32G32B32A32_SFLOAT;
  info.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  VkImageView handle = VK_NULL_HANDLE;
  OPKIT_VK_CREATE(device, device.vk().vkCreateImageView(device.handle(), &info, nullptr, &handle), "viewing an image");
  return Owned<VkImageView>(device, handle, device.vk().vkDestroyImageView);
}

bool overlap(const ByteAccess& a, const ByteAccess& b) {
  return a.buffer == b.buffer && a.begin < b.end && b.begin < a.end;
}

}  // namespace

ImageShape::ImageShape(const Shape& shape) {
  OPKIT_CHECK(shape.size() >= 2 && shape.size() <= 4);
  batch = shape[0];
  channels = shape[1];
  height = shape.size() == 4 ? shape[2] : 1;
  width = shape.size() > 2 ? shape.back() : 1;
  blocks = (channels + 3) / 4;
}

Result<VkMemoryRequirements> imageRequirements(const Device& device, const TensorDesc& desc, bool guarded) {
  OPKIT_ASSIGN(const Owned<VkImage> image, createImage(device, desc, guarded));
  VkMemoryRequirements requirements;
  device.vk().vkGetImageMemoryRequirements(device.handle(), image.get(), &requirements);
  return requirements;
}

Result<const VulkanImage*> ImageSet::imageOf(const Tensor& tensor) {
  const Key key{tensor.buffer.get(), tensor.offsetBytes, tensor.desc.dtype, tensor.desc.shape};
  if (const auto found = images_.find(key); found != images_.end())
    return static_cast<const VulkanImage*>(&found->second);
  const auto* buffer = dynamic_cast<const VulkanBuffer*>(tensor.buffer.get());
  if (!buffer) return Status::internal("vulkan: tensor {} is not on the device", tensor.desc.toString());
  VulkanImage image;
  image.memory = tensor.buffer;
  image.desc = tensor.desc;
  OPKIT_ASSIGN(image.handle, createImage(*device_, tensor.desc, guarded_));
  const auto [columns, rows] = sizeOf(*device_, ImageShape(tensor.desc.shape), guarded_);
  image.columns = columns;
  image.rows = rows;
  VkMemoryRequirements requirements;
  device_->vk().vkGetImageMemoryRequirements(device_->handle(), image.handle.get(), &requirements);
  const size_t offset = buffer->memory().offset() + tensor.offsetBytes;
  if (offset % requirements.alignment != 0 || tensor.offsetBytes + requirements.size > buffer->memory().sizeBytes())
    return Status::internal("vulkan: the image of {} takes {} bytes at a multiple of {}, got {} at {}",
                            tensor.desc.toString(), requirements.size, requirements.alignment,
                            buffer->memory().sizeBytes() - tensor.offsetBytes, offset);
  OPKIT_VK(device_->vk().vkBindImageMemory(device_->handle(), image.handle.get(), buffer->memory().memory(), offset),
           "binding an image to memory");
  image.sizeBytes = requirements.size;
  OPKIT_ASSIGN(image.view, createView(*device_, image.handle.get(), tensor.desc.dtype));
  return static_cast<const VulkanImage*>(&images_.emplace(key, std::move(image)).first->second);
}

Result<ImageSet::Use> ImageSet::use(const Tensor& tensor, bool write) {
  OPKIT_ASSIGN(const VulkanImage* image, imageOf(tensor));
  const ByteAccess access{tensor.buffer.get(), tensor.offsetBytes, tensor.offsetBytes + image->sizeBytes, write};
  const bool holds =
      std::any_of(contents_.begin(), contents_.end(), [&](const Content& content) { return content.image == image; });
  if (!access.write) {
    if (!holds) return Status::internal("vulkan: the image of {} is read before it is written", tensor.desc.toString());
    return Use{image, access, false};
  }
  forget(access, image);
  if (!holds) contents_.push_back({access, image});
  return Use{image, access, !holds};
}

void ImageSet::forget(const ByteAccess& access, const VulkanImage* except) {
  std::erase_if(contents_,
                [&](const Content& content) { return content.image != except && overlap(content.bytes, access); });
}

std::vector<const VulkanImage*> ImageSet::filled() const {
  std::vector<const VulkanImage*> images;
  for (const Content& content : contents_) images.push_back(content.image);
  return images;
}

Result<VkSampler> ImageSet::sampler() {
  if (!sampler_) {
    VkSamplerCreateInfo info{VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO};  // nearest; shaders fetch texels by position
    info.addressModeU = info.addressModeV = info.addressModeW = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
    VkSampler handle = VK_NULL_HANDLE;
    OPKIT_VK_CREATE(*device_, device_->vk().vkCreateSampler(device_->handle(), &info, nullptr, &handle),
                    "creating a sampler");
    sampler_ = Owned<VkSampler>(*device_, handle, device_->vk().vkDestroySampler);
  }
  return sampler_.get();
}

}  // namespace opkit::vulkan
