#include "engine/graph/passes/region_compose.h"

#include <algorithm>
#include <numeric>

namespace opkit {
namespace {

constexpr int kMaxBoxes = 64;  // examined for one pair of regions, before giving up

int64_t floorDivide(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }  // b > 0
int64_t ceilDivide(int64_t a, int64_t b) { return -floorDivide(-a, b); }

/// One dimension of the writer's box. Sorted by stride, they are the digits of a mixed-radix number: every address
/// in T is offset + sum(digit * stride) in one way, and the writer wrote it when each digit is below `size`.
struct Digit {
  int64_t stride;        // in T
  int64_t size;          // digits that were written
  int64_t sourceStride;  // in the writer's source
};

struct Writer {
  int64_t offset;
  int64_t sourceOffset;
  std::vector<Digit> digits;  // largest stride first; the last stride is 1

  /// The digits of an address relative to `offset`; only the first may be negative or large.
  DimVector digitsOf(int64_t address) const {
    DimVector result;
    for (const Digit& digit : digits) {
      result.push_back(floorDivide(address, digit.stride));
      address -= result.back() * digit.stride;
    }
    return result;
  }
};

std::optional<Writer> writerOf(const Region& region) {
  const Region flat = collapse(region);
  Writer writer{flat.offset, flat.sourceOffset, {}};
  for (size_t d = 0; d < flat.size.size(); ++d) {
    Digit digit{flat.strides[d], flat.size[d], flat.sourceStrides[d]};
    if (digit.stride == 0) return std::nullopt;
    if (digit.stride < 0) {  // walk it the other way round
      writer.offset += (digit.size - 1) * digit.stride;
      writer.sourceOffset += (digit.size - 1) * digit.sourceStride;
      digit = {-digit.stride, digit.size, -digit.sourceStride};
    }
    writer.digits.push_back(digit);
  }
  std::sort(writer.digits.begin(), writer.digits.end(),
            [](const Digit& a, const Digit& b) { return a.stride > b.stride; });
  if (writer.digits.empty() || writer.digits.back().stride != 1) writer.digits.push_back({1, 1, 0});
  for (size_t d = 1; d < writer.digits.size(); ++d) {
    const Digit &outer = writer.digits[d - 1], &inner = writer.digits[d];
    if (outer.stride % inner.stride != 0 || inner.size * inner.stride > outer.stride) return std::nullopt;
  }
  return writer;
}

/// One dimension of the reader's box, and the reader as a list of them. Strides in T are positive or zero.
struct Axis {
  int64_t size;
  int64_t sourceStride;  // in T
  int64_t stride;
};

struct Box {
  int64_t sourceOffset;  // in T
  int64_t offset;
  std::vector<Axis> axes;

  /// Restricts an axis to [begin, end).
  Box cut(size_t axis, int64_t begin, int64_t end) const {
    Box part = *this;
    part.sourceOffset += begin * axes[axis].sourceStride;
    part.offset += begin * axes[axis].stride;
    part.axes[axis].size = end - begin;
    return part;
  }
  int64_t lastAddress() const {
    int64_t address = sourceOffset;
    for (const Axis& axis : axes) address += (axis.size - 1) * axis.sourceStride;
    return address;
  }
};

Box boxOf(const Region& region) {
  const Region flat = collapse(region);
  Box box{flat.sourceOffset, flat.offset, {}};
  for (size_t d = 0; d < flat.size.size(); ++d) {
    Axis axis{flat.size[d], flat.sourceStrides[d], flat.strides[d]};
    if (axis.sourceStride < 0) {
      box.sourceOffset += (axis.size - 1) * axis.sourceStride;
      box.offset += (axis.size - 1) * axis.stride;
      axis = {axis.size, -axis.sourceStride, -axis.stride};
    }
    box.axes.push_back(axis);
  }
  return box;
}

class Composer {
 public:
  Composer(const Writer& writer, int source) : writer_(writer), source_(source) {}

  /// Appends the parts of `box` that the writer wrote; false if they cannot be determined.
  bool compose(const Box& box) {
    if (++boxes_ > kMaxBoxes) return false;
    if (isOutside(box)) return true;
    const DimVector base = writer_.digitsOf(box.sourceOffset - writer_.offset);
    std::vector<DimVector> steps;  // per axis, the digits of its stride
    for (const Axis& axis : box.axes) steps.push_back(writer_.digitsOf(axis.sourceStride));
    // Digits add up without carries in a box whose every digit stays below its capacity.
    for (size_t d = 1; d < base.size(); ++d) {
      const int64_t capacity = writer_.digits[d - 1].stride / writer_.digits[d].stride;
      if (largest(box, base, steps, d) >= capacity) return splitAtCarries(box, d);
    }
    return clip(box, base, steps);
  }

  std::vector<Region> result;

 private:
  using Steps = std::vector<DimVector>;

  bool isOutside(const Box& box) const {
    int64_t last = writer_.offset;
    for (const Digit& digit : writer_.digits) last += (digit.size - 1) * digit.stride;
    return box.lastAddress() < writer_.offset || box.sourceOffset > last;
  }

  static int64_t largest(const Box& box, const DimVector& base, const Steps& steps, size_t digit) {
    int64_t value = base[digit];
    for (size_t e = 0; e < box.axes.size(); ++e) value += (box.axes[e].size - 1) * steps[e][digit];
    return value;
  }

  /// If an axis covers more than one unit of the digit above `d`, it is split into an axis of units and an axis within
  /// them.
  bool splitAtCarries(const Box& box, size_t d) {
    const int64_t unit = writer_.digits[d - 1].stride;
    const int64_t relative = box.sourceOffset - writer_.offset;
    const int64_t start = relative - floorDivide(relative, unit) * unit;
    for (size_t e = 0; e < box.axes.size(); ++e) {
      const Axis axis = box.axes[e];
      if (axis.sourceStride == 0 || axis.sourceStride >= unit) continue;
      const int64_t untilCarry = ceilDivide(unit - start, axis.sourceStride);
      if (untilCarry >= axis.size) continue;  // does not carry by itself
      const int64_t perUnit = unit / axis.sourceStride;
      const bool aligned = unit % axis.sourceStride == 0 && start < axis.sourceStride;
      if (!aligned) return compose(box.cut(e, 0, untilCarry)) && compose(box.cut(e, untilCarry, axis.size));
      const int64_t whole = axis.size / perUnit * perUnit;
      if (whole < axis.size) return compose(box.cut(e, 0, whole)) && compose(box.cut(e, whole, axis.size));
      Box split = box;
      split.axes[e] = {axis.size / perUnit, unit, axis.stride * perUnit};
      split.axes.insert(split.axes.begin() + static_cast<std::ptrdiff_t>(e) + 1,
                        {perUnit, axis.sourceStride, axis.stride});
      return compose(split);
    }
    return false;
  }

  /// Without carries each digit is base + sum(index * step): keeps the indices at which all digits are below their
  /// sizes.
  bool clip(Box box, DimVector base, const Steps& steps) {
    for (size_t d = 0; d < base.size(); ++d) {
      const int64_t size = writer_.digits[d].size;
      const int64_t last = largest(box, base, steps, d);
      if (base[d] >= size || last < 0) return true;  // nothing of it was written
      if (base[d] >= 0 && last < size) continue;     // all of it
      size_t axis = box.axes.size();
      size_t movers = 0;
      for (size_t e = 0; e < box.axes.size(); ++e) {
        if (steps[e][d] == 0 || box.axes[e].size == 1) continue;
        ++movers;
        if (axis == box.axes.size() || steps[e][d] > steps[axis][d]) axis = e;
      }
      if (movers > 1) {  // halve the widest one until the rest is inside or outside
        const int64_t half = box.axes[axis].size / 2;
        return compose(box.cut(axis, 0, half)) && compose(box.cut(axis, half, box.axes[axis].size));
      }
      const int64_t step = steps[axis][d];
      const int64_t begin = std::max<int64_t>(0, ceilDivide(-base[d], step));
      const int64_t end = std::min(box.axes[axis].size, floorDivide(size - 1 - base[d], step) + 1);
      if (begin >= end) return true;
      box = box.cut(axis, begin, end);
      for (size_t k = 0; k < base.size(); ++k) base[k] += begin * steps[axis][k];
    }
    emit(box, base, steps);
    return true;
  }

  void emit(const Box& box, const DimVector& base, const Steps& steps) {
    Region region{source_, writer_.sourceOffset, box.offset, {}, {}, {}};
    for (size_t d = 0; d < base.size(); ++d) region.sourceOffset += base[d] * writer_.digits[d].sourceStride;
    for (size_t e = 0; e < box.axes.size(); ++e) {
      int64_t stride = 0;
      for (size_t d = 0; d < base.size(); ++d) stride += steps[e][d] * writer_.digits[d].sourceStride;
      region.size.push_back(box.axes[e].size);
      region.sourceStrides.push_back(stride);
      region.strides.push_back(box.axes[e].stride);
    }
    result.push_back(collapse(region));
  }

  const Writer& writer_;
  int source_;
  int boxes_ = 0;
};

/// The dimension along which `b` continues `a`, if they differ in nothing else.
std::optional<size_t> continuation(const Region& a, const Region& b) {
  if (a.source != b.source || a.sourceStrides != b.sourceStrides || a.strides != b.strides) return std::nullopt;
  for (size_t d = 0; d < a.size.size(); ++d) {
    const bool follows = b.sourceOffset - a.sourceOffset == a.size[d] * a.sourceStrides[d] &&
                         b.offset - a.offset == a.size[d] * a.strides[d];
    Shape rest = a.size;
    rest[d] = b.size[d];
    if (follows && rest == b.size) return d;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<Region>> composeRegions(const Region& reader, const Region& writer) {
  if (elementCount(reader.size) == 0 || elementCount(writer.size) == 0) return std::vector<Region>();
  const std::optional<Writer> layout = writerOf(writer);
  if (!layout) return std::nullopt;
  Composer composer(*layout, writer.source);
  if (!composer.compose(boxOf(reader))) return std::nullopt;
  return std::move(composer.result);
}

void mergeRegions(std::vector<Region>& regions) {
  for (Region& region : regions) region = collapse(region);
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t a = 0; a < regions.size() && !changed; ++a) {
      for (size_t b = 0; b < regions.size() && !changed; ++b) {
        if (a == b) continue;
        const std::optional<size_t> d = continuation(regions[a], regions[b]);
        if (!d) continue;
        regions[a].size[*d] += regions[b].size[*d];
        regions[a] = collapse(regions[a]);
        regions.erase(regions.begin() + static_cast<std::ptrdiff_t>(b));
        changed = true;
      }
    }
  }
}

}  // namespace opkit
