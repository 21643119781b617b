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

/// Walks the outer dimensions of a planned region like an odometer; the innermost one is a run.
template <class T>
void copyRegion(const Region& region, const T* source, T* target, std::vector<int64_t>& position) {
  source += region.sourceOffset;
  target += region.offset;
  const size_t rank = region.size.size();
  if (rank == 0) {
    *target = *source;
    return;
  }
  const size_t inner = rank - 1;
  std::fill_n(position.begin(), rank, 0);
  while (true) {
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

template <class T>
void rasterAs(const RegionList& list, std::span<const Region> plans, std::vector<int64_t>& position, TensorList inputs,
              const Tensor& output) {
  const auto elements = [](const Tensor& tensor) { return reinterpret_cast<T*>(tensor.bytes().data()); };
  const auto count = output.desc.elements();
  if (list.fill == RegionList::Fill::Zero) std::fill_n(elements(output), count, T{});
  if (list.fill == RegionList::Fill::Input)
    std::fill_n(elements(output), count, *elements(*inputs[static_cast<size_t>(list.fillInput)]));
  for (const Region& region : plans)
    copyRegion<T>(region, elements(*inputs[static_cast<size_t>(region.source)]), elements(output), position);
}

Status checkSource(TensorList inputs, int source, DType expected) {
  if (source < 0 || static_cast<size_t>(source) >= inputs.size() || !inputs[static_cast<size_t>(source)])
    return Status::internal("raster: a region reads source {}, there are {}", source, inputs.size());
  const DType found = inputs[static_cast<size_t>(source)]->desc.dtype;
  if (sizeOf(found) != sizeOf(expected))
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

Status HostRaster::onResize(TensorList inputs, TensorList outputs) {
  const DType dtype = outputs[0]->desc.dtype;
  plans_.clear();
  size_t rank = 0;
  if (list_.fill == RegionList::Fill::Input) OPKIT_TRY(checkSource(inputs, list_.fillInput, dtype));
  for (const Region& region : list_.regions) {
    if (elementCount(region.size) == 0) continue;
    OPKIT_TRY(checkSource(inputs, region.source, dtype));
    plans_.push_back(planRegion(region));
    rank = std::max(rank, plans_.back().size.size());
  }
  position_.assign(rank, 0);
  return Status::ok();
}

Status HostRaster::onExecute(TensorList inputs, TensorList outputs) {
  ++backend_.counters().dispatches;
  const Tensor& output = *outputs[0];
  switch (sizeOf(output.desc.dtype)) {
    case 1: rasterAs<uint8_t>(list_, plans_, position_, inputs, output); break;
    case 2: rasterAs<uint16_t>(list_, plans_, position_, inputs, output); break;
    case 4: rasterAs<uint32_t>(list_, plans_, position_, inputs, output); break;
    default: rasterAs<uint64_t>(list_, plans_, position_, inputs, output); break;
  }
  return Status::ok();
}

}  // namespace opkit
