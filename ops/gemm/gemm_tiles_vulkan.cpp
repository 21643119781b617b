#include "ops/gemm/gemm_tiles_vulkan.h"

#include "engine/base/divide.h"
#include "shaders/gemm/gemm_expand.h"
#include "shaders/gemm/gemm_pack.h"

namespace opkit::ops::gemm {
namespace {

constexpr uint32_t kTiles[] = {4, 8, 16};
constexpr int64_t kMaxGroups = 65535;
constexpr uint32_t kMaxLocalSize = 128;  // every device allows it

uint32_t u32(int64_t value) { return static_cast<uint32_t>(value); }

// An empty buffer cannot be bound, so an operand without elements (a product over no terms) gets one vec4.
int64_t atLeastOneVec4(int64_t elements) { return std::max<int64_t>(elements, 4); }

int64_t packedElements(const WeightLayout& layout, uint32_t tile) {
  return layout.matrices * ceilDiv(layout.rows, tile) * tile * layout.channels * layout.kernelHeight *
         layout.kernelWidth;
}

// Copies words of T in the order of gemm_pack.comp.
template <class T>
void packOnHost(const WeightLayout& layout, uint32_t tile, std::span<const T> from, std::span<T> to) {
  size_t at = 0;
  for (int64_t matrix = 0; matrix < layout.matrices; ++matrix)
    for (int64_t first = 0; first < layout.rows; first += tile)
      for (int64_t ky = 0; ky < layout.kernelHeight; ++ky)
        for (int64_t channel = 0; channel < layout.channels; ++channel)
          for (int64_t kx = 0; kx < layout.kernelWidth; ++kx)
            for (int64_t row = first; row < first + tile; ++row, ++at)
              if (row < layout.rows)
                to[at] = from[static_cast<size_t>(matrix * layout.matrixStride + row * layout.rowStride +
                                                  channel * layout.channelStride + ky * layout.kernelRowStride +
                                                  kx * layout.kernelColumnStride)];
}

// Copies words of T in the order of gemm_expand.comp; matrices only (one kernel column, one row, no padding).
template <class T>
void layOutOnHost(const PositionLayout& layout, std::span<const T> from, std::span<T> to) {
  for (int64_t image = 0; image < layout.images; ++image)
    for (int64_t channel = 0; channel < layout.channels; ++channel)
      for (int64_t column = 0; column < layout.columns; ++column)
        to[static_cast<size_t>((image * layout.channels + channel) * layout.pitch() + column)] =
            from[static_cast<size_t>(image * layout.imageStride + channel * layout.channelStride +
                                     column * layout.columnStride)];
}

// Key of everything that packed constants depend on besides the values.
std::string nameOf(const WeightLayout& w, uint32_t tile) {
  return fmt::format("gemm tiles of {}: {} x {} x {} x {} x {}, strides {} {} {} {} {}", tile, w.matrices, w.rows,
                     w.channels, w.kernelHeight, w.kernelWidth, w.matrixStride, w.rowStride, w.channelStride,
                     w.kernelRowStride, w.kernelColumnStride);
}
std::string nameOf(const PositionLayout& x) {
  return fmt::format("gemm positions: {} x {} x {}, strides {} {} {}", x.images, x.channels, x.columns, x.imageStride,
                     x.channelStride, x.columnStride);
}

// Invocations of a group that works along a row of `columns`: a power of two that wastes few.
uint32_t laneCount(int64_t columns) {
  uint32_t lanes = 8;
  while (lanes < 64 && lanes < columns) lanes *= 2;
  return lanes;
}

// A host tensor of `elements` words of `source`'s type, filled by copy(from, to) as words of their size.
template <class Copy>
Result<Tensor> rearranged(const Tensor& source, int64_t elements, Copy&& copy) {
  OPKIT_ASSIGN(Tensor result, Tensor::onHost({source.desc.dtype, {elements}}));
  if (sizeOf(source.desc.dtype) == 2)
    copy(std::span<const uint16_t>(reinterpret_cast<const uint16_t*>(source.bytes().data()), source.bytes().size() / 2),
         std::span<uint16_t>(reinterpret_cast<uint16_t*>(result.bytes().data()), static_cast<size_t>(elements)));
  else
    copy(std::span<const uint32_t>(reinterpret_cast<const uint32_t*>(source.bytes().data()), source.bytes().size() / 4),
         std::span<uint32_t>(reinterpret_cast<uint32_t*>(result.bytes().data()), static_cast<size_t>(elements)));
  return result;
}

}  // namespace

bool PositionLayout::isInPlace() const {
  const bool plain = kernelWidth == 1 && rowStep == 1 && columnStep == 1 && padTop == 0 && padLeft == 0;
  const bool whole = rows == height && columns == width && columns == pitch() && columnStride == 1;
  const bool dense = (rows == 1 || rowStride == columns) && (channels == 1 || channelStride == rows * columns) &&
                     (images == 1 || imageStride == channels * rows * columns);
  return plain && whole && dense;
}

uint32_t GemmTiles::tileFor(int64_t rows) {
  if (rows <= 4) return kTiles[0];
  // A larger tile reads less, but the last tile may be mostly padding.
  return rows > 48 || ceilDiv(rows, kTiles[2]) * kTiles[2] == ceilDiv(rows, kTiles[1]) * kTiles[1] ? kTiles[2]
                                                                                                   : kTiles[1];
}

uint32_t GemmTiles::groupsToFill(const DeviceCaps& caps, int64_t rows) {
  return u32(std::min(ceilDiv(rows, caps.deviceClass->rowsPerGroup), kMaxGroups));
}

Status GemmTiles::supports(const CreateArgs& args, const WeightLayout& w, const PositionLayout& x) {
  const DType dtype = args.outputs[0].dtype;
  OPKIT_TRY(vulkan::requireStorage<Shader>(args, dtype));
  // Shaders count elements in 32 bits.
  const auto limit = static_cast<int64_t>(std::min<uint64_t>(args.device.maxTensorBytes, UINT32_MAX));
  const int64_t elements = std::max(packedElements(w, tileFor(w.rows)), x.elements());
  if (elements * static_cast<int64_t>(sizeOf(dtype)) > limit)
    return Status::unsupportedByDevice(
        "{}: an operand laid out for the Vulkan kernel has {} elements, more than {} bytes hold", args.def.type,
        elements, limit);
  return Status::ok();
}

Status GemmTiles::requireLoops(const CreateArgs& args, const WeightLayout& w, const PositionLayout& x) {
  constexpr int64_t kColumns = 4;  // stored by one invocation, in a loop
  OPKIT_TRY(vulkan::requireLoops(
      args, vulkan::loopPasses({w.kernelHeight, w.channels * w.kernelWidth}) + vulkan::loopPasses({kColumns})));
  if (x.isInPlace() || x.elements() == 0) return Status::ok();
  const int64_t planes = x.images * x.channels;
  return vulkan::requireLoops(args,
                              vulkan::loopPasses({ceilDiv(planes, std::min(planes, kMaxGroups)),
                                                  ceilDiv(x.rows, groupsToFill(args.device, x.rows)), x.kernelWidth}));
}

int64_t GemmTiles::packedVec4s(const WeightLayout& layout) const {
  WeightLayout one = layout;
  one.matrices = 1;
  return packedElements(one, tile(layout.rows)) / 4;
}

void GemmTiles::useTile(uint32_t tile) {
  if (tile != tile_) packedWeights_.reset();
  tile_ = tile;
}

Status GemmTiles::encodeTuned(const std::string& shapes, int64_t rows, TensorList inputs, TensorList outputs,
                              vulkan::Encoder& encoder, const Encode& encode) {
  const std::string name = fmt::format("gemm_tiles {} {}", nameOf(outputs[0]->desc.dtype), shapes);
  const auto standard = std::find(std::begin(kTiles), std::end(kTiles), tileFor(rows)) - std::begin(kTiles);
  const vulkan::Alternatives tiles{name, std::size(kTiles), static_cast<size_t>(standard),
                                   [&](size_t choice, TensorList in, TensorList out, vulkan::Encoder& trial) {
                                     GemmTiles copy = *this;
                                     copy.useTile(kTiles[choice]);
                                     return encode(copy, in, out, trial);
                                   }};
  OPKIT_ASSIGN(const size_t choice, encoder.choose(tiles, inputs, outputs));
  useTile(kTiles[choice]);
  return encode(*this, inputs, outputs, encoder);
}

Result<const Tensor*> GemmTiles::weights(const WeightLayout& layout, const Tensor* source, vulkan::Encoder& encoder) {
  const uint32_t tile = this->tile(layout.rows);
  const int64_t elements = atLeastOneVec4(packedElements(layout, tile));
  if (constantWeights_ && !packedWeights_) {
    const auto pack = [&] {
      return rearranged(*constantWeights_, elements, [&](auto from, auto to) { packOnHost(layout, tile, from, to); });
    };
    OPKIT_ASSIGN(packedWeights_, vulkan::packConstant(backend_, *constantWeights_, nameOf(layout, tile), pack));
  }
  if (packedWeights_) return packedWeights_.get();

  using Pack = shaders::GemmPack;
  OPKIT_ASSIGN(const Tensor* packed, encoder.scratch({source->desc.dtype, {elements}}));
  OPKIT_TRY(encoder.dispatch<Pack>({*Pack::wordOfBytes(sizeOf(source->desc.dtype))}, {.x = source, .y = packed},
                                   {.count = packedElements(layout, tile),
                                    .tile = tile,
                                    .tiles = ceilDiv(layout.rows, tile),
                                    .rows = layout.rows,
                                    .channels = layout.channels,
                                    .kernelHeight = layout.kernelHeight,
                                    .kernelWidth = layout.kernelWidth,
                                    .matrixStride = layout.matrixStride,
                                    .rowStride = layout.rowStride,
                                    .channelStride = layout.channelStride,
                                    .kernelRowStride = layout.kernelRowStride,
                                    .kernelColumnStride = layout.kernelColumnStride},
                                   vulkan::Items{packedElements(layout, tile)}));
  return packed;
}

Result<const Tensor*> GemmTiles::positions(const PositionLayout& layout, const Tensor* source, int64_t first,
                                           vulkan::Encoder& encoder) {
  const int64_t elements = atLeastOneVec4(layout.elements());
  if (constantPositions_ && !laidOutPositions_) {
    const auto layOut = [&] {
      return rearranged(*constantPositions_, elements, [&](auto from, auto to) { layOutOnHost(layout, from, to); });
    };
    OPKIT_ASSIGN(laidOutPositions_, vulkan::packConstant(backend_, *constantPositions_, nameOf(layout), layOut));
  }
  if (laidOutPositions_) return laidOutPositions_.get();
  if (layout.isInPlace() && first == 0 && layout.elements() > 0) return source;

  using Expand = shaders::GemmExpand;
  OPKIT_ASSIGN(const Tensor* laidOut, encoder.scratch({source->desc.dtype, {elements}}));
  const int64_t planes = layout.images * layout.channels;
  const uint32_t localSize = laneCount(layout.pitch());
  const vulkan::Groups groups{u32(ceilDiv(layout.pitch(), localSize)), groupsToFill(backend_.caps(), layout.rows),
                              u32(std::min(planes, kMaxGroups))};
  OPKIT_TRY(encoder.dispatch<Expand>({*Expand::wordOfBytes(sizeOf(source->desc.dtype))}, {.x = source, .y = laidOut},
                                     {.planes = planes,
                                      .rows = layout.rows,
                                      .pitch = layout.pitch(),
                                      .kernelWidth = layout.kernelWidth,
                                      .channels = layout.channels,
                                      .height = layout.height,
                                      .width = layout.width,
                                      .offset = first * layout.imageStride,
                                      .imageStride = layout.imageStride,
                                      .channelStride = layout.channelStride,
                                      .rowStride = layout.rowStride,
                                      .columnStride = layout.columnStride,
                                      .rowStep = layout.rowStep,
                                      .columnStep = layout.columnStep,
                                      .dilation = layout.dilation,
                                      .padTop = layout.padTop,
                                      .padLeft = layout.padLeft},
                                     groups, {.localSizeX = localSize}));
  return laidOut;
}

Status GemmTiles::multiply(const Tensor& x, const Tensor& w, const Tensor* bias, const Tensor& y,
                           Shader::PushConstants push, int64_t images, vulkan::Encoder& encoder) const {
  const uint32_t tile = this->tile(push.rows);
  const DeviceCaps& caps = backend_.caps();
  const auto most = static_cast<uint64_t>(std::max(x.desc.elements(), w.desc.elements())) / 4;
  const bool texels = caps.deviceClass->prefersTexels && most <= caps.maxTexels;
  const Shader::Variant variant{.storage = *Shader::storageOf(y.desc.dtype),
                                .tile = tile == 4   ? Shader::Tile::V4
                                        : tile == 8 ? Shader::Tile::V8
                                                    : Shader::Tile::V16,
                                .read = texels ? Shader::Read::Texel : Shader::Read::Ssbo};
  uint32_t localSize = caps.deviceClass->tileGroup;
  while (ceilDiv(push.positions4, localSize) > kMaxGroups && localSize < kMaxLocalSize) localSize *= 2;
  push.hasBias = bias ? 1 : 0;
  const int64_t total = images * push.groups;
  for (int64_t first = 0; first < total; first += kMaxGroups) {
    push.firstImage = first;
    const vulkan::Groups groups{u32(ceilDiv(push.rows, tile)), u32(ceilDiv(push.positions4, localSize)),
                                u32(std::min(kMaxGroups, total - first))};
    OPKIT_TRY(encoder.dispatch<Shader>(variant, {.x = &x, .w = &w, .bias = bias ? bias : &x, .y = &y}, push, groups,
                                       {.localSizeX = localSize}));
  }
  return Status::ok();
}

}  // namespace opkit::ops::gemm
