// GemmTiles: sums of products on Vulkan, shared by MatMul, Gemm and Conv.
//
// y[row, position] = alpha * sum over k of w[row, k] * x[k, position] + beta * bias, for many images and groups. The
// rows operand w is packed into tiles. The positions operand x is stored so that vec4s of neighbouring positions are
// aligned. Constants are converted once on the host, other tensors by a dispatch per run. One GemmTiles belongs to one
// Execution. Shaders: shaders/gemm/.
#pragma once

#include <optional>

#include "engine/backend/vulkan/vulkan_execution.h"
#include "shaders/gemm/gemm_tiles.h"

namespace opkit::ops::gemm {

/// Strides of w in its tensor, in elements: (matrix, row, channel, ky, kx).
struct WeightLayout {
  int64_t matrices = 1;
  int64_t rows = 1;
  int64_t channels = 1;
  int64_t kernelHeight = 1;
  int64_t kernelWidth = 1;
  int64_t matrixStride = 0;
  int64_t rowStride = 0;
  int64_t channelStride = 0;
  int64_t kernelRowStride = 0;
  int64_t kernelColumnStride = 0;
};

/// The stored form of x ([image][channel][kx][row][pitch]) and the strides of x in its tensor.
struct PositionLayout {
  int64_t images = 1;
  int64_t channels = 1;
  int64_t kernelWidth = 1;
  int64_t rows = 1;
  int64_t columns = 1;
  int64_t height = 1;  // of the source; positions beyond it read as zero
  int64_t width = 1;
  int64_t imageStride = 0;
  int64_t channelStride = 0;
  int64_t rowStride = 0;
  int64_t columnStride = 1;
  int64_t rowStep = 1;
  int64_t columnStep = 1;
  int64_t dilation = 1;
  int64_t padTop = 0;
  int64_t padLeft = 0;

  int64_t pitch() const { return (columns + 3) / 4 * 4; }
  int64_t elementsPerImage() const { return channels * kernelWidth * rows * pitch(); }
  int64_t elements() const { return images * elementsPerImage(); }
  /// True if the tensor already has this layout.
  bool isInPlace() const;
};

class GemmTiles {
 public:
  using Shader = shaders::GemmTiles;

  explicit GemmTiles(Backend& backend) : backend_(backend) {}

  /// Operands that never change; REQUIRES the same layout in every later call.
  void setConstantWeights(const Tensor& host) { constantWeights_ = host; }
  void setConstantPositions(const Tensor& host) { constantPositions_ = host; }

  /// Rows per invocation, for products of this many rows, if nothing was measured.
  static uint32_t tileFor(int64_t rows);
  /// Records an Execution with the tile that is fastest on this device (Encoder::choose). `encode` records everything
  /// with the given GemmTiles: this one or, for timing, a copy. `shapes` names everything that speed depends on.
  using Encode = std::function<Status(GemmTiles&, TensorList, TensorList, vulkan::Encoder&)>;
  Status encodeTuned(const std::string& shapes, int64_t rows, TensorList inputs, TensorList outputs,
                     vulkan::Encoder& encoder, const Encode& encode);
  /// Work groups for kernels that step over `rows` rows: as many as a GPU can use, but few on software devices, where
  /// each costs a microsecond.
  static uint32_t groupsToFill(const DeviceCaps& caps, int64_t rows);
  /// OK if the kernel exists for the output's dtype and both converted operands fit into the device's buffers.
  static Status supports(const CreateArgs& args, const WeightLayout& w, const PositionLayout& x);
  /// OK if the device runs the loops of all shaders to their end; x is laid out for all images at once.
  static Status requireLoops(const CreateArgs& args, const WeightLayout& w, const PositionLayout& x);

  /// The packed rows operand of `source` (unused for a constant), on the device.
  Result<const Tensor*> weights(const WeightLayout& layout, const Tensor* source, vulkan::Encoder& encoder);
  /// The laid-out positions of images [first, first + layout.images) of `source` (unused for a constant).
  Result<const Tensor*> positions(const PositionLayout& layout, const Tensor* source, int64_t first,
                                  vulkan::Encoder& encoder);
  /// Dispatches the product over `images` * push.groups. `bias` may be null; pushes of absent parts are ignored.
  Status multiply(const Tensor& x, const Tensor& w, const Tensor* bias, const Tensor& y, Shader::PushConstants push,
                  int64_t images, vulkan::Encoder& encoder) const;

  /// Vec4s of one matrix of packed weights.
  int64_t packedVec4s(const WeightLayout& layout) const;

 private:
  uint32_t tile(int64_t rows) const { return tile_ != 0 ? tile_ : tileFor(rows); }
  void useTile(uint32_t tile);

  Backend& backend_;
  uint32_t tile_ = 0;                      // 0: tileFor
  std::optional<Tensor> constantWeights_;  // host
  std::optional<Tensor> constantPositions_;
  std::shared_ptr<const Tensor> packedWeights_;  // on the device; shared by all products with these constants
  std::shared_ptr<const Tensor> laidOutPositions_;
};

}  // namespace opkit::ops::gemm
