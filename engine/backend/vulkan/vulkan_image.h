// ImageSet: the images through which one plan's recordings see tensors of Layout::NC4HW4.
//
// A tensor's image is bound to the bytes that the planner gave it, so images share an arena with buffers and with each
// other. An image loses its contents when anything else writes its bytes. The set tracks this in the order of recording
// and reports when an image must be (re)initialised. Used by one thread at a time.
#pragma once

#include <map>
#include <vector>

#include "engine/backend/vulkan/device.h"
#include "engine/backend/vulkan/hazard_tracker.h"
#include "engine/tensor/tensor.h"

namespace opkit::vulkan {

/// A tensor of rank 2 to 4 as [batch, channels, height, width], and the image of shaders/include/image4.glsl.
struct ImageShape {
  explicit ImageShape(const Shape& shape);

  int64_t batch, channels, height, width;
  int64_t blocks;  // of four channels
  int64_t columns() const { return blocks * width; }
  int64_t rows() const { return batch * height; }
  int64_t texels() const { return columns() * rows(); }
};

/// Columns and rows that a guarded image has beyond its tensor. They hold NaN, and no kernel may write them.
inline constexpr int64_t kImageGuard = 2;

/// Bytes and alignment of the image of a tensor. Unsupported if the device has no such image.
Result<VkMemoryRequirements> imageRequirements(const Device& device, const TensorDesc& desc, bool guarded);

struct VulkanImage {
  std::shared_ptr<const Buffer> memory;  // shared: the image lies in the memory of this buffer
  TensorDesc desc;
  int64_t columns = 0, rows = 0;  // guard included
  Owned<VkImage> handle;
  Owned<VkImageView> view;
  size_t sizeBytes = 0;
};

class ImageSet {
 public:
  explicit ImageSet(std::shared_ptr<Device> device, bool guarded = false)
      : device_(std::move(device)), guarded_(guarded) {}
  bool guarded() const { return guarded_; }
  /// The images that hold values once everything that was recorded has run.
  std::vector<const VulkanImage*> filled() const;

  struct Use {
    const VulkanImage* image;
    ByteAccess access;
    bool initialise;  // from an undefined layout, before this use
  };
  /// The image of `tensor`, about to be read or written. Internal if it is read while it has no contents.
  Result<Use> use(const Tensor& tensor, bool write);
  /// Like use(), without recording the use.
  Result<const VulkanImage*> imageOf(const Tensor& tensor);
  /// Call before a buffer's bytes are written.
  void overwrite(const ByteAccess& access) { forget(access, nullptr); }
  /// For all images; made on first use.
  Result<VkSampler> sampler();

 private:
  struct Key {
    const void* buffer;
    size_t offsetBytes;
    DType dtype;
    Shape shape;
    auto operator<=>(const Key&) const = default;
  };
  struct Content {
    ByteAccess bytes;
    const VulkanImage* image;
  };
  void forget(const ByteAccess& access, const VulkanImage* except);

  std::shared_ptr<Device> device_;
  bool guarded_;
  Owned<VkSampler> sampler_;
  std::map<Key, VulkanImage> images_;
  std::vector<Content> contents_;  // images that hold values now
};

}  // namespace opkit::vulkan
