// ShaderCode: one compiled variant of a shader, as the build generates it (see docs in cmake/opkit_shaders.cmake).
//
// Generated headers include only this, so that a change of the backend does not rebuild them. Plain data,
// constant-initialised, alive for the whole process.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace opkit {
struct Tensor;
}

namespace opkit::vulkan {

enum class Access : uint8_t {
  Read,
  Write,
  ReadWrite,
  Texel,       // read as vec4s through a texel buffer view, whose format follows from the tensor's dtype
  Image,       // read as texels of an image, for tensors of Layout::NC4HW4 (shaders/include/image4.glsl)
  ImageWrite,  // written as texels of an image
};

/// True if a shader may write through this access.
constexpr bool writes(Access access) {
  return access == Access::Write || access == Access::ReadWrite || access == Access::ImageWrite;
}
constexpr bool isImage(Access access) { return access == Access::Image || access == Access::ImageWrite; }

struct ShaderCode {
  const char* name;  // "softmax/softmax STORAGE=f16"
  std::span<const uint32_t> spirv;
  std::span<const Access> bindings;  // binding number -> how the shader uses it
  uint32_t pushConstantBytes;
  uint32_t specializationConstants;   // ids 0 .. n-1, 4 bytes each
  std::array<uint32_t, 3> localSize;  // as compiled
  // Per axis: the specialisation constant that sets the local size instead, or kNoConstant.
  std::array<uint32_t, 3> localSizeConstants = {kNoConstant, kNoConstant, kNoConstant};

  static constexpr uint32_t kNoConstant = UINT32_MAX;

  /// Invocations of one work group under these values of the specialisation constants.
  uint32_t invocations(std::span<const uint32_t> constants) const;
};

/// Replaces the SPIR-V that the build compiled: harnesses watch, recompile and mutate shaders. The words are read
/// before the next call; returning `code.spirv` changes nothing.
using ShaderSource = std::function<std::span<const uint32_t>(const ShaderCode& code)>;

}  // namespace opkit::vulkan
