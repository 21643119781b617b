#include "engine/backend/vulkan/vulkan_raster.h"

#include <limits>
#include <numeric>
#include <optional>

#include "engine/backend/host/host_raster.h"
#include "engine/backend/vulkan/device_limits.h"
#include "engine/backend/vulkan/raster_batch.h"
#include "engine/backend/vulkan/raster_tiles.h"
#include "shaders/raster/raster.h"
#include "shaders/raster/raster_tiles.h"

namespace opkit::vulkan {
namespace {

using Shader = shaders::Raster;
using TileShader = shaders::RasterTiles;

constexpr size_t kMaxRank = 6;
constexpr size_t kMaxWordBytes = 16;
constexpr size_t kMaxRuns = size_t{1} << 16;  // of one copy command
constexpr size_t kMaxPieces = 1024;           // most dispatches for one output
constexpr size_t kMaxAlone = 64;              // most regions of one output with dispatches of their own
constexpr int64_t kLargeRegion = 1 << 16;     // words that fill a device, for which the batch's table costs too much
constexpr uint32_t kGroup = 256;              // invocations of a work group, within the device's limit
constexpr uint32_t kCopyGroup = 64;           // if each stores several words, so that more groups remain

Result<const Tensor*> sourceOf(TensorList inputs, int source, const Tensor& output) {
  if (source < 0 || static_cast<size_t>(source) >= inputs.size() || !inputs[static_cast<size_t>(source)])
    return Status::internal("raster: a region reads source {}, there are {}", source, inputs.size());
  const Tensor* tensor = inputs[static_cast<size_t>(source)];
  if (bitsOf(tensor->desc.dtype) != bitsOf(output.desc.dtype))
    return Status::internal("raster: source {} must be {}, found {}", source, nameOf(output.desc.dtype),
                            nameOf(tensor->desc.dtype));
  return tensor;
}

/// The whole output from one element.
Region fillRegion(int source, const TensorDesc& output) { return {source, 0, 0, {output.elements()}, {0}, {1}}; }

bool allEven(const DimVector& values, size_t count) {
  for (size_t i = 0; i < count; ++i)
    if (values[i] % 2 != 0) return false;
  return true;
}

/// The offsets, sizes and strides that both shaders take.
template <class Push>
Push pushOf(const Region& box) {
  Push push{};
  push.sourceOffset = box.sourceOffset;
  push.offset = box.offset;
  for (size_t d = 0; d < box.size.size(); ++d) {
    push.sizes[d] = box.size[d];
    push.sourceStrides[d] = box.sourceStrides[d];
    push.strides[d] = box.strides[d];
  }
  return push;
}

Status dispatchTiles(const TilePlan& plan, size_t wordBytes, const Tensor& from, const Tensor& to, Encoder& encoder) {
  auto push = pushOf<TileShader::PushConstants>(plan.region);
  push.groups = plan.groups();
  const uint32_t invocations = std::min(kGroup, encoder.caps().workGroup);
  return encoder.dispatch<TileShader>({*TileShader::wordOfBytes(wordBytes)}, {.x = &from, .y = &to}, push,
                                      Items{push.groups, invocations},
                                      {.localSizeX = invocations,
                                       .box2 = plan.box[0],
                                       .box3 = plan.box[1],
                                       .box4 = plan.box[2],
                                       .box5 = plan.box[3],
                                       .order0 = plan.order[0],
                                       .order1 = plan.order[1],
                                       .order2 = plan.order[2],
                                       .order3 = plan.order[3],
                                       .gapEvery = plan.gapEvery,
                                       .gap = plan.gap});
}

Status dispatchBox(const Region& box, size_t wordBytes, const Tensor& from, const Tensor& to, Encoder& encoder) {
  if (const auto plan = planTiles(box, wordBytes, *encoder.caps().deviceClass))
    return dispatchTiles(*plan, wordBytes, from, to, encoder);
  const CopyPlan plan = planCopies(box, wordBytes, *encoder.caps().deviceClass);
  auto push = pushOf<Shader::PushConstants>(plan.region);
  const size_t d = plan.dimension;
  if (plan.perItem > 1) {
    push.copies = push.sizes[d];
    push.copyStride = push.strides[d];
    push.sizes[d] = (push.copies + plan.perItem - 1) / plan.perItem;
    push.strides[d] *= plan.perItem;
  }
  push.count = std::accumulate(push.sizes.begin(), push.sizes.begin() + std::ssize(plan.region.size), int64_t{1},
                               std::multiplies<>());
  return encoder.dispatch<Shader>(
      {*Shader::wordOfBytes(wordBytes)}, {.x = &from, .y = &to}, push, Items{push.count},
      {.localSizeX = std::min(plan.perItem > 1 ? kCopyGroup : kGroup, encoder.caps().workGroup),
       .rank = static_cast<uint32_t>(plan.region.size.size()),
       .copiesPerItem = static_cast<uint32_t>(plan.perItem),
       .copied = static_cast<uint32_t>(d)});
}

/// Boxes of at most six dimensions: one per index of the outermost ones while there are too many.
void appendMoves(const Region& region, const Tensor& from, std::vector<Move>& moves) {
  if (region.size.size() <= kMaxRank) {
    moves.push_back({region, &from});
    return;
  }
  Region rest{region.source, region.sourceOffset, region.offset, {}, {}, {}};
  rest.size.assign(region.size.begin() + 1, region.size.end());
  rest.sourceStrides.assign(region.sourceStrides.begin() + 1, region.sourceStrides.end());
  rest.strides.assign(region.strides.begin() + 1, region.strides.end());
  for (int64_t i = 0; i < region.size[0]; ++i) {
    appendMoves(rest, from, moves);
    rest.sourceOffset += region.sourceStrides[0];
    rest.offset += region.strides[0];
  }
}

/// The bytes of the innermost dimension when it is contiguous on both sides (a single element is), else 0.
size_t runBytes(const Region& region, size_t elementBytes) {
  if (region.size.empty()) return elementBytes;
  if (region.strides.back() != 1 || region.sourceStrides.back() != 1) return 0;
  return static_cast<size_t>(region.size.back()) * elementBytes;
}

/// Copies without a shader: one run per index of the outer dimensions.
Status copyRuns(const Region& region, const Tensor& from, const Tensor& to, Encoder& encoder) {
  const size_t bytes = bytesOf(to.desc.dtype, 1);
  const size_t length = runBytes(region, bytes);
  const Shape outer(region.size.begin(), region.size.end() - (region.size.empty() ? 0 : 1));
  std::vector<ByteRun> runs;
  runs.reserve(static_cast<size_t>(elementCount(outer)));
  forEachIndex(outer, [&](const DimVector& index) {
    int64_t source = region.sourceOffset;
    int64_t target = region.offset;
    for (size_t d = 0; d < index.size(); ++d) {
      source += index[d] * region.sourceStrides[d];
      target += index[d] * region.strides[d];
    }
    runs.push_back({static_cast<size_t>(source) * bytes, static_cast<size_t>(target) * bytes, length});
  });
  return encoder.copyRuns(from, to, runs);
}

/// Handles one region: records a copy command now, or adds moves for a shader.
Status encodeRegion(const Region& original, const Tensor& from, const Tensor& to, Encoder& encoder,
                    std::vector<Move>& moves) {
  if (elementCount(original.size) == 0) return Status::ok();
  OPKIT_ASSIGN(const Region units, inUnits(original, to.desc.dtype));
  const Region region = planRegion(units);
  const size_t bytes = bytesOf(to.desc.dtype, 1);
  const size_t run = runBytes(region, bytes);
  const size_t total = static_cast<size_t>(elementCount(region.size)) * bytes;
  if (run == total || (run >= encoder.shortestRunBytes() && total / run <= kMaxRuns))
    return copyRuns(region, from, to, encoder);
  appendMoves(region, from, moves);
  return Status::ok();
}

/// The words of a tensor that a box reaches.
struct Reach {
  int64_t first;
  int64_t last;

  Reach(int64_t offset, const DimVector& strides, const Shape& size) : first(offset), last(offset) {
    for (size_t d = 0; d < size.size(); ++d) (strides[d] < 0 ? first : last) += strides[d] * (size[d] - 1);
  }
};

/// The range to bind of a tensor, and the words before it.
struct Window {
  Tensor bound;
  int64_t skipped;
};

/// The whole tensor if the device can bind it, else the part that is reached; nullopt if that is too long as well.
std::optional<Window> windowOf(const Tensor& tensor, const Reach& reach, size_t wordBytes, uint64_t limit) {
  if (tensor.sizeBytes() <= limit) return Window{tensor, 0};
  const size_t begin = static_cast<size_t>(reach.first) * wordBytes / kBindingAlignment * kBindingAlignment;
  const size_t end = (static_cast<size_t>(reach.last) + 1) * wordBytes;
  if (end - begin > limit) return std::nullopt;
  Tensor bound{{DType::UInt8, {static_cast<int64_t>(end - begin)}}, tensor.buffer, tensor.offsetBytes + begin, 0};
  if (end == tensor.sizeBytes()) bound.guardBytes = tensor.guardBytes;
  return Window{std::move(bound), static_cast<int64_t>(begin / wordBytes)};
}

/// The dimension along which the box reaches farthest in one of the tensors.
size_t longestDimension(const Region& box) {
  size_t longest = 0;
  int64_t most = -1;
  for (size_t d = 0; d < box.size.size(); ++d) {
    const int64_t reached = std::max(std::abs(box.sourceStrides[d]), std::abs(box.strides[d])) * (box.size[d] - 1);
    if (reached > most) longest = d;
    most = std::max(most, reached);
  }
  return longest;
}

/// A box of words, halved until the device can bind what its pieces reach.
Status encodeBox(const Region& box, size_t wordBytes, const Tensor& from, const Tensor& to, Encoder& encoder,
                 size_t& pieces) {
  const uint64_t limit = encoder.maxBindingBytes();
  const auto source = windowOf(from, {box.sourceOffset, box.sourceStrides, box.size}, wordBytes, limit);
  const auto target = windowOf(to, {box.offset, box.strides, box.size}, wordBytes, limit);
  if (source && target) {
    Region inside = box;
    inside.sourceOffset -= source->skipped;
    inside.offset -= target->skipped;
    OPKIT_TRY(checkReach(inside));
    ++pieces;
    return dispatchBox(inside, wordBytes, source->bound, target->bound, encoder);
  }
  const size_t d = longestDimension(box);
  if (box.size.empty() || box.size[d] < 2 || pieces >= kMaxPieces)
    return Status::unsupportedByDevice("raster: more than {} pieces of {} that the device binds, {} bytes each",
                                       kMaxPieces, to.desc.toString(), limit);
  Region low = box, high = box;
  low.size[d] = box.size[d] / 2;
  high.size[d] -= low.size[d];
  high.sourceOffset += low.size[d] * box.sourceStrides[d];
  high.offset += low.size[d] * box.strides[d];
  OPKIT_TRY(encodeBox(low, wordBytes, from, to, encoder, pieces));
  return encodeBox(high, wordBytes, from, to, encoder, pieces);
}

/// A region of elements in its widest words; `bytes` becomes the size of a word.
Region widened(Region region, size_t& bytes) {
  while (bytes < kMaxWordBytes && widen(region)) bytes *= 2;
  return region;
}

/// Records the moves of one output, one by one. They write disjoint elements, and so do their pieces.
Status encodeMoves(std::span<const Move> moves, const Tensor& to, Encoder& encoder) {
  size_t pieces = 0;
  for (const Move& move : moves) {
    size_t bytes = bytesOf(to.desc.dtype, 1);
    const Region region = widened(move.region, bytes);
    OPKIT_TRY(encodeBox(region, bytes, *move.from, to, encoder, pieces));
  }
  return Status::ok();
}

/// True if a batch would cost a device with sectors more than a dispatch does.
bool isBetterAlone(const Move& move, const Tensor& to, const Encoder& encoder) {
  const DeviceClass& device = *encoder.caps().deviceClass;
  size_t bytes = bytesOf(to.desc.dtype, 1);
  const Region region = widened(move.region, bytes);
  return device.sectorBytes > 0 &&
         (elementCount(region.size) >= kLargeRegion || planTiles(region, bytes, device).has_value());
}

/// Whether the device can bind the tensors of the moves as they are.
bool areBindable(std::span<const Move> moves, const Tensor& to, const Encoder& encoder) {
  const uint64_t limit = encoder.maxBindingBytes();
  return to.sizeBytes() <= limit &&
         std::ranges::all_of(moves, [&](const Move& move) { return move.from->sizeBytes() <= limit; });
}

/// Records the moves of one output, the small ones together. All write disjoint elements.
Status encodeShaders(std::vector<Move> moves, const Tensor& to, Encoder& encoder) {
  if (moves.size() < 2 || !areBindable(moves, to, encoder)) return encodeMoves(moves, to, encoder);
  const auto rest =
      std::stable_partition(moves.begin(), moves.end(), [&](const Move& m) { return isBetterAlone(m, to, encoder); });
  const auto alone = static_cast<size_t>(rest - moves.begin());
  if (alone > kMaxAlone) return encodeBatch(std::move(moves), to, encoder);
  OPKIT_TRY(encodeMoves(std::span(moves).first(alone), to, encoder));
  moves.erase(moves.begin(), rest);
  return moves.size() < 2 ? encodeMoves(moves, to, encoder) : encodeBatch(std::move(moves), to, encoder);
}

Status encodeDisjoint(std::vector<Move> moves, const Tensor& to, Encoder& encoder) {
  encoder.beginDisjoint();
  OPKIT_TRY(encodeShaders(std::move(moves), to, encoder));
  encoder.endDisjoint();
  return Status::ok();
}

/// The regions as whole inputs along the channels: for each, its first channel. Otherwise nullopt.
std::optional<std::vector<int64_t>> joinedChannels(const RegionList& list, std::span<const TensorDesc* const> inputs,
                                                   const TensorDesc& output) {
  if (list.fill != RegionList::Fill::None || output.shape.size() < 2 || output.shape.size() > 4) return std::nullopt;
  const int64_t plane = elementCount({output.shape.begin() + 2, output.shape.end()});
  std::vector<int64_t> firsts;
  int64_t channel = 0;
  for (const Region& region : list.regions) {
    const auto source = static_cast<size_t>(region.source);
    if (source >= inputs.size() || !inputs[source] || channel % 4 != 0) return std::nullopt;
    const Shape& shape = inputs[source]->shape;
    if (shape.size() != output.shape.size() || shape[0] != output.shape[0] || shape[1] == 0 ||
        !std::equal(shape.begin() + 2, shape.end(), output.shape.begin() + 2))
      return std::nullopt;
    const int64_t length = shape[1] * plane;
    const Region whole =
        collapse({region.source, 0, channel * plane, {shape[0], length}, {length, 1}, {output.shape[1] * plane, 1}});
    const Region found = collapse(region);
    if (found.sourceOffset != whole.sourceOffset || found.offset != whole.offset || found.size != whole.size ||
        found.sourceStrides != whole.sourceStrides || found.strides != whole.strides)
      return std::nullopt;
    firsts.push_back(channel);
    channel += shape[1];
  }
  return channel == output.shape[1] ? std::optional(firsts) : std::nullopt;
}

Status joinImages(const RegionList& list, TensorList inputs, const Tensor& output, Encoder& encoder) {
  std::vector<const TensorDesc*> descs;
  for (const Tensor* input : inputs) descs.push_back(input ? &input->desc : nullptr);
  const auto firsts = joinedChannels(list, descs, output.desc);
  if (!firsts) return Status::internal("raster: these regions do not join images to {}", output.desc.toString());
  for (size_t i = 0; i < list.regions.size(); ++i)
    OPKIT_TRY(encoder.copyChannels(*inputs[static_cast<size_t>(list.regions[i].source)], output, (*firsts)[i]));
  return Status::ok();
}

}  // namespace

bool widen(Region& region) {
  if (region.size.empty()) return false;
  const size_t inner = region.size.size() - 1;
  if (region.strides[inner] != 1 || region.sourceStrides[inner] != 1) return false;
  if (region.size[inner] % 2 != 0 || region.offset % 2 != 0 || region.sourceOffset % 2 != 0) return false;
  if (!allEven(region.strides, inner) || !allEven(region.sourceStrides, inner)) return false;
  region.size[inner] /= 2;
  region.offset /= 2;
  region.sourceOffset /= 2;
  for (size_t d = 0; d < inner; ++d) {
    region.strides[d] /= 2;
    region.sourceStrides[d] /= 2;
  }
  return true;
}

Status checkReach(const Region& region) {
  constexpr int64_t kLimit = std::numeric_limits<int32_t>::max();
  int64_t from = region.sourceOffset;
  int64_t to = region.offset;
  for (size_t d = 0; d < region.size.size(); ++d) {
    from += std::max<int64_t>(region.sourceStrides[d], 0) * (region.size[d] - 1);
    to += std::max<int64_t>(region.strides[d], 0) * (region.size[d] - 1);
  }
  if (from <= kLimit && to <= kLimit && elementCount(region.size) <= kLimit) return Status::ok();
  return Status::unsupported("raster: a region reaches element {}; the Vulkan kernel counts to {}", std::max(from, to),
                             kLimit);
}

namespace {

/// Concatenates images along the channels.
class ImageJoin final : public VulkanExecution {
 public:
  ImageJoin(const CreateArgs& args, Backend& backend) : VulkanExecution(backend), list_(*args.regions) {}
  Status onEncode(TensorList inputs, TensorList outputs, Encoder& encoder) override {
    encoder.beginDisjoint();
    OPKIT_TRY(joinImages(list_, inputs, *outputs[0], encoder));
    encoder.endDisjoint();
    return Status::ok();
  }

 private:
  RegionList list_;
};

class BufferRaster final : public VulkanExecution {
 public:
  BufferRaster(const CreateArgs& args, Backend& backend) : VulkanExecution(backend), list_(*args.regions) {}
  Status onEncode(TensorList inputs, TensorList outputs, Encoder& encoder) override;

 private:
  RegionList list_;
};

Status BufferRaster::onEncode(TensorList inputs, TensorList outputs, Encoder& encoder) {
  const Tensor& output = *outputs[0];
  if (list_.fill == RegionList::Fill::Zero) OPKIT_TRY(encoder.fillZero(output));
  std::vector<Move> moves;
  if (list_.fill == RegionList::Fill::Input) {
    OPKIT_ASSIGN(const Tensor* value, sourceOf(inputs, list_.fillInput, output));
    OPKIT_TRY(encodeRegion(fillRegion(list_.fillInput, output.desc), *value, output, encoder, moves));
    OPKIT_TRY(encodeDisjoint(std::move(moves), output, encoder));
    moves.clear();
  }
  // Copies state the exact bytes that they write, so the tracker sees that they are disjoint; dispatches do not.
  encoder.beginDisjoint();
  for (const Region& region : list_.regions) {
    OPKIT_ASSIGN(const Tensor* source, sourceOf(inputs, region.source, output));
    OPKIT_TRY(encodeRegion(region, *source, output, encoder, moves));
  }
  encoder.endDisjoint();
  return encodeDisjoint(std::move(moves), output, encoder);
}

Status joinsChannels(const CreateArgs& args) {
  for (size_t i = 0; i < args.inputs.size(); ++i)
    if (args.layout(i) != Layout::NC4HW4) return Status::unsupported("Raster: input {} is no image", i);
  const TensorDesc* output = args.outputs.data();
  OPKIT_TRY(requireImages(args, {&output, 1}));
  if (!args.inputs.empty() && joinedChannels(*args.regions, args.inputs, *output)) return Status::ok();
  return Status::unsupported("Raster: the regions do not concatenate images along the channels");
}

}  // namespace

std::vector<Creator> rasterCreators() {
  std::vector<Creator> creators = {creatorOf<ImageJoin>(joinsChannels, Layout::NC4HW4, "images"),
                                   creatorOf<BufferRaster>(takeAll)};
  for (Creator& creator : creators) creator.dtypes = kEveryDType;
  return creators;
}

}  // namespace opkit::vulkan
