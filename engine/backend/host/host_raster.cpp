#include "engine/backend/host/host_raster.h"

#include <cstdlib>
#include <cstring>
#include <numeric>

namespace opkit {
namespace {

/// One run of `count` elements.
template <class T>
void copyRun(const T* source, int64_t sourceStride, T* target, int64_t stride, int64_t count) {
  if (stride == 1 && sourceStride == 1) {
    std::memcpy(target, source, static_cast<size_t>(count) * sizeof(T));
  } else if (stride == 1 && sourceStride == 0) {
    std::fill_n(target, count, *source);
  } else {
    for (int64_t i = 0; i < count; ++i) target[i * stride] = source[i * sourceStride];
  }
}

constexpr int64_t kPartElements = 32768;  // elements that are worth a thread

/// Two dimensions, contiguous in the target along the second and in the source along the first, in tiles that stay in
/// cache on both sides.
template <class T>
void transposeTiles(const T* source, int64_t sourceStride, T* target, int64_t stride, int64_t rows, int64_t columns) {
  constexpr int64_t kTile = 16;
  for (int64_t row = 0; row < rows; row += kTile)
    for (int64_t column = 0; column < columns; column += kTile)
      for (int64_t r = row; r < std::min(row + kTile, rows); ++r)
        for (int64_t c = column; c < std::min(column + kTile, columns); ++c)
          target[r * stride + c] = source[r + c * sourceStride];
}

/// Walks the outer dimensions of a planned region like an odometer; the innermost one is a run, the innermost two of a
/// transposition are tiles.
template <class T>
void copyRegion(const Region& region, const T* source, T* target, DimVector& position) {
  source += region.sourceOffset;
  target += region.offset;
  const size_t rank = region.size.size();
  if (rank == 0) {
    *target = *source;
    return;
  }
  const bool transposes = rank > 1 && region.strides[rank - 1] == 1 && region.sourceStrides[rank - 2] == 1 &&
                          region.sourceStrides[rank - 1] > 1;
  const size_t inner = transposes ? rank - 2 : rank - 1;
  std::fill_n(position.begin(), rank, 0);
  while (true) {
    if (transposes)
      transposeTiles(source, region.sourceStrides[rank - 1], target, region.strides[inner], region.size[inner],
                     region.size[rank - 1]);
    else
      copyRun(source, region.sourceStrides[inner], target, region.strides[inner], region.size[inner]);
    size_t d = inner;
    while (d-- > 0) {
      source += region.sourceStrides[d];
      target += region.strides[d];
      if (++position[d] < region.size[d]) break;
      source -= region.sourceStrides[d] * region.size[d];
      target -= region.strides[d] * region.size[d];
      position[d] = 0;
    }
    if (d == static_cast<size_t>(-1)) return;
  }
}

Status checkSource(TensorList inputs, int source, DType expected) {
  if (source < 0 || static_cast<size_t>(source) >= inputs.size() || !inputs[static_cast<size_t>(source)])
    return Status::internal("raster: a region reads source {}, there are {}", source, inputs.size());
  const DType found = inputs[static_cast<size_t>(source)]->desc.dtype;
  if (bitsOf(found) != bitsOf(expected))
    return Status::internal("raster: source {} must be {}, found {}", source, nameOf(expected), nameOf(found));
  return Status::ok();
}

}  // namespace

Region planRegion(const Region& region) {
  const Region merged = collapse(region);
  std::vector<size_t> order(merged.size.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return std::abs(merged.strides[a]) > std::abs(merged.strides[b]); });
  Region sorted{merged.source, merged.sourceOffset, merged.offset, {}, {}, {}};
  for (const size_t d : order) {
    sorted.size.push_back(merged.size[d]);
    sorted.sourceStrides.push_back(merged.sourceStrides[d]);
    sorted.strides.push_back(merged.strides[d]);
  }
  return collapse(sorted);
}

std::vector<Region> splitRegion(const Region& region, int64_t count) {
  const auto largest = std::max_element(region.size.begin(), region.size.end());
  if (count <= 1 || largest == region.size.end() || *largest < 2) return {region};
  const auto d = static_cast<size_t>(largest - region.size.begin());
  const int64_t step = (*largest + count - 1) / count;
  std::vector<Region> parts;
  for (int64_t begin = 0; begin < *largest; begin += step) {
    Region part = region;
    part.size[d] = std::min(step, *largest - begin);
    part.offset += begin * region.strides[d];
    part.sourceOffset += begin * region.sourceStrides[d];
    parts.push_back(std::move(part));
  }
  return parts;
}

Status HostRaster::onResize(TensorList inputs, TensorList outputs) {
  const DType dtype = outputs[0]->desc.dtype;
  const auto threads = static_cast<int64_t>(pool_.threadCount());
  parts_.clear();
  if (list_.fill == RegionList::Fill::Input) OPKIT_TRY(checkSource(inputs, list_.fillInput, dtype));
  for (const Region& region : list_.regions) {
    const int64_t elements = elementCount(region.size);
    if (elements == 0) continue;
    OPKIT_TRY(checkSource(inputs, region.source, dtype));
    const int64_t least = pool_.splitsAll() ? 2 : kPartElements;
    const int64_t count = threads == 1 ? 1 : std::min(elements / least, 2 * threads);
    parts_.emplace_back();
    OPKIT_ASSIGN(const Region units, inUnits(region, dtype));
    for (Region& part : splitRegion(planRegion(units), count)) {
      const size_t rank = part.size.size();
      parts_.back().push_back({std::move(part), DimVector(rank, 0)});
    }
  }
  return Status::ok();
}

template <class T>
void HostRaster::copyParts(TensorList inputs, const Tensor& output) {
  const auto elements = [](const Tensor& tensor) { return reinterpret_cast<T*>(tensor.bytes().data()); };
  const auto count = output.desc.elements();
  if (list_.fill == RegionList::Fill::Zero) std::fill_n(elements(output), count, T{});
  if (list_.fill == RegionList::Fill::Input)
    std::fill_n(elements(output), count, *elements(*inputs[static_cast<size_t>(list_.fillInput)]));
  for (std::vector<Part>& parts : parts_) {
    const auto copy = [&](size_t index, size_t) {
      Part& part = parts[index];
      copyRegion<T>(part.region, elements(*inputs[static_cast<size_t>(part.region.source)]), elements(output),
                    part.position);
    };
    if (parts.size() == 1)
      copy(0, 0);
    else
      pool_.parallelFor(parts.size(), std::ref(copy));
  }
}

Status HostRaster::onRun(TensorList inputs, TensorList outputs) {
  const Tensor& output = *outputs[0];
  switch (bytesOf(output.desc.dtype, 1)) {
    case 1: copyParts<uint8_t>(inputs, output); break;
    case 2: copyParts<uint16_t>(inputs, output); break;
    case 4: copyParts<uint32_t>(inputs, output); break;
    default: copyParts<uint64_t>(inputs, output); break;
  }
  return Status::ok();
}

Creator hostRasterCreator(ThreadPool& (*poolOf)(Backend& backend)) {
  Creator creator;
  creator.dtypes = kEveryDType;
  creator.supports = [](const CreateArgs&) { return Status::ok(); };
  creator.create = [poolOf](const CreateArgs& args, Backend& backend) -> Result<std::unique_ptr<Execution>> {
    return std::unique_ptr<Execution>(std::make_unique<HostRaster>(args, backend, poolOf(backend)));
  };
  return creator;
}

}  // namespace opkit
