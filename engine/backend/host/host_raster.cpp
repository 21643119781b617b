#include "engine/backend/host/host_raster.h"

#include <cstdlib>
#include <cstring>
#include <numeric>
#include <utility>

#include "engine/backend/host/copy_rows.h"

namespace opkit {
namespace {

/// `rows` runs of `count` elements each.
template <class T>
struct Box {
  const T* source;
  int64_t sourceRow, sourceStride;
  T* target;
  int64_t row, stride;
  int64_t rows, count;
};

template <class T>
void copyBox(const Box<T>& box) {
  constexpr auto kBytes = static_cast<int64_t>(sizeof(T));
  if (box.stride == 1 && box.sourceStride == 1)
    return copyRows(reinterpret_cast<const std::byte*>(box.source), reinterpret_cast<std::byte*>(box.target),
                    {box.rows, box.count * kBytes, box.sourceRow * kBytes, box.row * kBytes});
  if (box.stride == 1 && box.sourceStride == 0)
    return repeatRows(box.source, box.sourceRow, box.target, box.row, box.rows, box.count);
  for (int64_t r = 0; r < box.rows; ++r) {
    const T* source = box.source + r * box.sourceRow;
    T* target = box.target + r * box.row;
    for (int64_t i = 0; i < box.count; ++i) target[i * box.stride] = source[i * box.sourceStride];
  }
}

constexpr int64_t kPartElements = 32768;  // elements that are worth a thread

/// Two dimensions, contiguous in the target along the second and in the source along the first, in tiles that stay in
/// cache on both sides.
template <class T>
void transposeTiles(const Box<T>& box) {
  constexpr int64_t kTile = 16;
  for (int64_t row = 0; row < box.rows; row += kTile)
    for (int64_t column = 0; column < box.count; column += kTile)
      for (int64_t r = row; r < std::min(row + kTile, box.rows); ++r)
        for (int64_t c = column; c < std::min(column + kTile, box.count); ++c)
          box.target[r * box.row + c] = box.source[r + c * box.sourceStride];
}

/// Copies a planned region: loops outside, the innermost two dimensions as a box. A block that repeats is copied once,
/// and then from target to target.
template <class T>
class RegionCopy {
 public:
  explicit RegionCopy(const Region& region) : region_(region), rank_(region.size.size()) {
    int64_t span = 1;  // elements of the dimensions inside, which follow each other in the target
    for (size_t d = rank_; d-- > 0 && region.strides[d] == span; span *= region.size[d])
      if (region.sourceStrides[d] == 0 && d < kMostRepeats) repeats_ |= uint64_t{1} << d;
  }

  void run(const T* source, T* target) const { copy(0, source + region_.sourceOffset, target + region_.offset); }

 private:
  static constexpr size_t kMostRepeats = 64;
  static constexpr int64_t kShortBlock = 256;  // bytes that are copied row by row

  bool repeats(size_t d) const { return d < kMostRepeats && ((repeats_ >> d) & 1) != 0; }
  static void repeat(T* target, int64_t block, int64_t count) {
    repeatBlock(reinterpret_cast<std::byte*>(target), block * static_cast<int64_t>(sizeof(T)), count);
  }

  /// Dimensions d and further.
  void copy(size_t d, const T* source, T* target) const {
    if (d + 2 >= rank_) return copyInner(source, target);
    if (repeats(d)) {
      copy(d + 1, source, target);
      return repeat(target, region_.strides[d], region_.size[d]);
    }
    for (int64_t i = 0; i < region_.size[d]; ++i)
      copy(d + 1, source + i * region_.sourceStrides[d], target + i * region_.strides[d]);
  }

  void copyInner(const T* source, T* target) const {
    Box<T> box{source, 0, 0, target, 0, 0, 1, 1};
    if (rank_ > 0) {
      box.sourceStride = region_.sourceStrides[rank_ - 1];
      box.stride = region_.strides[rank_ - 1];
      box.count = region_.size[rank_ - 1];
    }
    if (rank_ < 2) return copyBox(box);
    box.sourceRow = region_.sourceStrides[rank_ - 2];
    box.row = region_.strides[rank_ - 2];
    box.rows = region_.size[rank_ - 2];
    if (box.stride == 1 && box.sourceRow == 1 && box.sourceStride > 1) return transposeTiles(box);
    const bool isLong = box.rows * box.count * static_cast<int64_t>(sizeof(T)) > kShortBlock;
    if (!repeats(rank_ - 2) || !isLong) return copyBox(box);
    const int64_t rows = std::exchange(box.rows, 1);
    copyBox(box);
    repeat(target, box.row, rows);
  }

  const Region& region_;
  const size_t rank_;
  uint64_t repeats_ = 0;  // the dimensions along which a block repeats
};

/// Whether the rows of a planned region follow each other in the target and are worth a loop over what is between them.
bool hasGaps(const Region& region, int64_t elementBytes) {
  constexpr int64_t kLeastBytes = 64;  // of a row
  const size_t rank = region.size.size();
  if (rank == 0 || region.strides[rank - 1] != 1 || region.size[rank - 1] * elementBytes < kLeastBytes) return false;
  for (size_t d = 1; d < rank; ++d)
    if (region.strides[d - 1] < region.size[d] * region.strides[d]) return false;
  return true;
}

/// Fills the elements between the rows of dimensions d and further, from `done` on; returns where the last row ends.
template <class T>
int64_t fillGaps(const Region& region, size_t d, int64_t offset, int64_t done, T value, T* target) {
  if (d + 1 == region.size.size()) {
    std::fill(target + done, target + offset, value);
    return offset + region.size[d];
  }
  for (int64_t i = 0; i < region.size[d]; ++i)
    done = fillGaps(region, d + 1, offset + i * region.strides[d], done, value, target);
  return done;
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
  only_.reset();
  if (list_.fill == RegionList::Fill::Input) OPKIT_TRY(checkSource(inputs, list_.fillInput, dtype));
  for (const Region& region : list_.regions) {
    const int64_t elements = elementCount(region.size);
    if (elements == 0) continue;
    OPKIT_TRY(checkSource(inputs, region.source, dtype));
    const int64_t least = pool_.splitsAll() ? 2 : kPartElements;
    const int64_t count = threads == 1 ? 1 : std::min(elements / least, 2 * threads);
    parts_.emplace_back();
    OPKIT_ASSIGN(const Region units, inUnits(region, dtype));
    if (list_.regions.size() == 1) only_ = planRegion(units);
    parts_.back() = splitRegion(planRegion(units), count);
  }
  return Status::ok();
}

template <class T>
void HostRaster::fill(T value, T* target, int64_t count) const {
  const bool isAround = only_ && hasGaps(*only_, sizeof(T));
  const int64_t done = isAround ? fillGaps(*only_, 0, only_->offset, 0, value, target) : 0;
  std::fill(target + done, target + count, value);
}

template <class T>
void HostRaster::copyParts(TensorList inputs, const Tensor& output) {
  const auto elements = [](const Tensor& tensor) { return reinterpret_cast<T*>(tensor.bytes().data()); };
  const auto count = output.desc.elements();
  if (list_.fill == RegionList::Fill::Zero) fill(T{}, elements(output), count);
  if (list_.fill == RegionList::Fill::Input)
    fill(*elements(*inputs[static_cast<size_t>(list_.fillInput)]), elements(output), count);
  for (const std::vector<Region>& parts : parts_) {
    const auto copy = [&](size_t index, size_t) {
      const Region& part = parts[index];
      RegionCopy<T>(part).run(elements(*inputs[static_cast<size_t>(part.source)]), elements(output));
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
