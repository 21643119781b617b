#include "engine/backend/vulkan/image_conversion.h"

#include "engine/backend/vulkan/vulkan_image.h"
#include "shaders/image/image_pack.h"
#include "shaders/image/image_unpack.h"

namespace opkit::vulkan {
namespace {

template <class S>
typename S::PushConstants pushOf(const ImageShape& shape) {
  return {.count = shape.texels(), .channels = shape.channels, .height = shape.height, .width = shape.width};
}

class ImageConversion final : public VulkanExecution {
 public:
  ImageConversion(const CreateArgs& args, Backend& backend) : VulkanExecution(backend), caps_(args.device) {}
  Status onEncode(TensorList inputs, TensorList outputs, Encoder& encoder) override {
    return encodeConversion(*inputs[0], *outputs[0], caps_, encoder);
  }

 private:
  DeviceCaps caps_;
};

}  // namespace

Creator conversionCreator() { return creatorOf<ImageConversion>(takeAll); }

Status encodeConversion(const Tensor& from, const Tensor& to, const DeviceCaps& caps, Encoder& encoder) {
  using Pack = shaders::ImagePack;
  using Unpack = shaders::ImageUnpack;
  if (!Pack::storageOf(from.desc.dtype) || from.desc != to.desc || from.layout == to.layout)
    return Status::internal("vulkan: conversion of {} in {} to {} in {}", from.desc.toString(), nameOf(from.layout),
                            to.desc.toString(), nameOf(to.layout));
  const ImageShape shape(from.desc.shape);
  const Items items{shape.texels()};
  if (from.layout == Layout::NC4HW4)
    return encoder.dispatch<Unpack>({*Unpack::storageOf(from.desc.dtype)}, {.x = &from, .y = &to},
                                    pushOf<Unpack>(shape), items);
  const int64_t elements = from.desc.elements();
  const bool texels =
      caps.deviceClass->prefersTexels && elements % 4 == 0 && static_cast<uint64_t>(elements) / 4 <= caps.maxTexels;
  return encoder.dispatch<Pack>({*Pack::storageOf(from.desc.dtype), texels ? Pack::Read::Texel : Pack::Read::Ssbo},
                                {.x = &from, .y = &to}, pushOf<Pack>(shape), items);
}

}  // namespace opkit::vulkan
