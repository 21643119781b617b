#include "ops/conv/conv_image_vectors.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/conv/conv_image_vectors.cpp"
#include "engine/backend/cpu/foreach_target.h"

#include "engine/backend/cpu/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opkit::ops::conv {
namespace HWY_NAMESPACE {
namespace vectors = opkit::cpu::HWY_NAMESPACE;
namespace hn = hwy::HWY_NAMESPACE;

void fillPlane(const PlaneLayout& layout, const float* channel, float padding, int64_t begin, int64_t end,
               float* plane) {
  for (int64_t r = begin; r < end; ++r, plane += layout.rowElements) {
    const int64_t y = r * layout.rowStep - layout.padTop;
    if (y < 0 || y >= layout.height) {
      vectors::fillRun(padding, plane, layout.rowElements);
      continue;
    }
    const float* row = channel + y * layout.width;
    float* target = plane;
    for (const PlaneLayout::ColumnGroup& group : layout.groups) {
      vectors::fillRun(padding, target, group.begin);
      vectors::copyStrided(row + group.source, layout.step, target + group.begin, group.end - group.begin);
      vectors::fillRun(padding, target + group.end, layout.groupElements - group.end);
      target += layout.groupElements;
    }
  }
}

/// to[i] = from[i * step]
void copyBytes(const uint8_t* HWY_RESTRICT from, int64_t step, uint8_t* HWY_RESTRICT to, int64_t count) {
  int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::FixedTag<uint8_t, 16> d;
  if (step == 2)
    for (; i + 16 < count; i += 16) {  // less than: the last vector ends with a byte between two of these
      hn::Vec<decltype(d)> even, odd;
      hn::LoadInterleaved2(d, from + 2 * i, even, odd);
      hn::StoreU(even, d, to + i);
    }
#endif
  for (; i < count; ++i) to[i] = from[i * step];
}

}  // namespace HWY_NAMESPACE
}  // namespace opkit::ops::conv
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opkit::ops::conv {

HWY_EXPORT(fillPlane);
HWY_EXPORT(copyBytes);

PaddedImage::PaddedImage(const std::vector<WindowAxis>& axes) : height_(axes[0]), width_(axes[1]) {
  PlaneLayout& layout = layout_;
  // A kernel of one row (column) reads only every stride-th row (column), so only these are stored.
  layout.rowStep = height_.kernel == 1 ? height_.stride : 1;
  rowsPerOutput_ = height_.kernel == 1 ? 1 : height_.stride;
  layout.rows = rowsOf(height_.output);
  layout.padTop = height_.padBegin;
  layout.height = height_.input;
  layout.width = width_.input;
  layout.step = width_.stride;
  layout.groupElements = width_.output + (width_.kernel - 1) * width_.dilation / width_.stride;
  const int64_t groups = width_.kernel == 1 ? 1 : width_.stride;
  layout.rowElements = groups * layout.groupElements;
  const int64_t step = layout.step;
  for (int64_t group = 0; group < groups; ++group) {
    const int64_t first = group - width_.padBegin;  // input column of the group's first float
    const int64_t begin = std::min(first < 0 ? (-first + step - 1) / step : 0, layout.groupElements);
    const int64_t inside = width_.input - first;
    const int64_t end = std::clamp(inside > 0 ? (inside + step - 1) / step : 0, begin, layout.groupElements);
    layout.groups.push_back({begin, end, end > begin ? first + begin * step : 0});
  }
}

int64_t PaddedImage::tapOffset(int64_t ky, int64_t kx) const {
  const int64_t x = kx * width_.dilation;
  return ky * height_.dilation * layout_.rowElements + x % width_.stride * layout_.groupElements + x / width_.stride;
}

PaddedImage::InputRows PaddedImage::inputRows(int64_t begin, int64_t end) const {
  const auto rowOf = [&](int64_t row) { return row * layout_.rowStep - layout_.padTop; };
  const int64_t first = std::clamp<int64_t>(rowOf(begin), 0, layout_.height);
  return {first, std::clamp<int64_t>(rowOf(end - 1) + 1, first, layout_.height)};
}

void PaddedImage::fill(const float* channel, float padding, int64_t begin, int64_t end, float* plane) const {
  HWY_DYNAMIC_DISPATCH(fillPlane)(layout_, channel, padding, begin, end, plane);
}

void PaddedImage::fill(const uint8_t* channel, uint8_t padding, int64_t begin, int64_t end, uint8_t* plane) const {
  for (int64_t r = begin; r < end; ++r, plane += layout_.rowElements) {
    std::fill_n(plane, layout_.rowElements, padding);
    const int64_t y = r * layout_.rowStep - layout_.padTop;
    if (y < 0 || y >= layout_.height) continue;
    uint8_t* target = plane;
    for (const PlaneLayout::ColumnGroup& group : layout_.groups) {
      const uint8_t* from = channel + y * layout_.width + group.source;
      if (layout_.step == 1)
        std::copy_n(from, group.end - group.begin, target + group.begin);
      else
        HWY_DYNAMIC_DISPATCH(copyBytes)(from, layout_.step, target + group.begin, group.end - group.begin);
      target += layout_.groupElements;
    }
  }
}

}  // namespace opkit::ops::conv
#endif
