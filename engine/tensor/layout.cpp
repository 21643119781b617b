#include "engine/tensor/layout.h"

#include "engine/base/check.h"

namespace opkit {
namespace {

constexpr int64_t kBlock = 4;

}  // namespace

const char* nameOf(Layout layout) {
  switch (layout) {
    case Layout::NCHW: return "NCHW";
    case Layout::NC4HW4: return "NC4HW4";
  }
  OPKIT_CHECK(!"unknown layout");
  return "";
}

LayoutView::LayoutView(const Shape& shape, Layout layout) {
  OPKIT_CHECK(shape.size() >= 2);
  batch = shape[0];
  channels = shape[1];
  spatial = elementCount({shape.begin() + 2, shape.end()});
  const int64_t blocks = (channels + kBlock - 1) / kBlock;
  switch (layout) {
    case Layout::NCHW:
      batchStride = channels * spatial;
      blockStride = spatial;
      spatialStride = 1;
      break;
    case Layout::NC4HW4:
      block = kBlock;
      batchStride = blocks * spatial * kBlock;
      blockStride = spatial * kBlock;
      channelStride = 1;
      spatialStride = kBlock;
      break;
  }
}

int64_t storedElements(const Shape& shape, Layout layout) {
  if (layout != Layout::NC4HW4) return elementCount(shape);
  const LayoutView view(shape, layout);
  return view.batch * view.batchStride;
}

}  // namespace opkit
