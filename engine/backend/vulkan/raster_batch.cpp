#include "engine/backend/vulkan/raster_batch.h"

#include "shaders/raster/raster_batch.h"

namespace opkit::vulkan {
namespace {

using Shader = shaders::RasterBatch;

constexpr size_t kMaxRank = 6;
constexpr size_t kMaxSources = 2;     // every device binds four storage buffers; more sources would need more
constexpr size_t kMaxRegions = 8192;  // every device has texel buffers of 65536 texels
constexpr size_t kMaxWordBytes = 16;

/// The widest word that fits all moves.
size_t widestWord(std::span<const Move> moves, size_t elementBytes) {
  size_t widest = kMaxWordBytes;
  for (const Move& move : moves) {
    Region region = move.region;
    size_t bytes = elementBytes;
    while (bytes < widest && widen(region)) bytes *= 2;
    widest = std::min(widest, bytes);
  }
  return widest;
}

void appendRecord(const Region& region, uint32_t first, uint32_t source, std::vector<uint32_t>& table) {
  const auto put = [&](int64_t value) { table.push_back(static_cast<uint32_t>(static_cast<int32_t>(value))); };
  const size_t missing = kMaxRank - region.size.size();
  const auto putSix = [&](const DimVector& values, int64_t fill) {
    for (size_t i = 0; i < missing; ++i) put(fill);
    for (const int64_t value : values) put(value);
  };
  put(first);
  put(source);
  put(region.sourceOffset);
  put(region.offset);
  putSix(region.size, 1);
  putSix(region.sourceStrides, 0);
  putSix(region.strides, 0);
  put(0);
  put(0);
}

Status encodePart(std::span<const Move> moves, const Tensor& to, size_t wordBytes, Encoder& encoder) {
  std::vector<uint32_t> table;
  uint32_t count = 0;
  const Tensor* second = nullptr;
  for (const Move& move : moves) {
    const bool isFirst = move.from == moves.front().from;
    if (!isFirst) second = move.from;
    appendRecord(move.region, count, isFirst ? 0 : 1, table);
    count += static_cast<uint32_t>(elementCount(move.region.size));
  }
  OPKIT_ASSIGN(const Tensor* records, encoder.table(table));
  return encoder.dispatch<Shader>(
      {*Shader::wordOfBytes(wordBytes)},
      {.table = records, .x = moves.front().from, .z = second ? second : moves.front().from, .y = &to},
      {.count = count, .regions = std::ssize(moves)}, Items{count});
}

}  // namespace

Status encodeBatch(std::vector<Move> moves, const Tensor& to, Encoder& encoder) {
  const size_t wordBytes = widestWord(moves, sizeOf(to.desc.dtype));
  for (Move& move : moves) {
    for (size_t bytes = sizeOf(to.desc.dtype); bytes < wordBytes; bytes *= 2) OPKIT_CHECK(widen(move.region));
    OPKIT_TRY(checkReach(move.region));
  }
  size_t begin = 0;
  while (begin < moves.size()) {
    std::vector<const Tensor*> sources;
    int64_t words = 0;
    size_t end = begin;
    for (; end < moves.size() && end - begin < kMaxRegions; ++end) {
      const bool known = std::ranges::find(sources, moves[end].from) != sources.end();
      words += elementCount(moves[end].region.size);
      if ((!known && sources.size() == kMaxSources) || words > INT32_MAX) break;
      if (!known) sources.push_back(moves[end].from);
    }
    OPKIT_TRY(encodePart(std::span(moves).subspan(begin, end - begin), to, wordBytes, encoder));
    begin = end;
  }
  return Status::ok();
}

}  // namespace opkit::vulkan
