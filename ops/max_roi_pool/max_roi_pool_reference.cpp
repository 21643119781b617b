#include <cmath>

#include "engine/op/oracle_elements.h"
#include "ops/max_roi_pool/max_roi_pool_parts.h"

namespace opkit::ops::max_roi_pool {
namespace {

/// The element that a coordinate names. The product is rounded in the precision of the regions.
int64_t elementOf(const OracleTensor& rois, size_t i, float scale) {
  const double at = rois.desc.dtype == DType::Float64 ? rois.real[i] * static_cast<double>(scale)
                                                      : static_cast<double>(static_cast<float>(rois.real[i]) * scale);
  const double limit = std::exp2(24);
  return std::llround(std::isnan(at) ? -limit : std::fmin(std::fmax(at, -limit), limit));
}

/// Elements of a bin: those that it covers in part count too.
std::vector<int64_t> elementsOf(int64_t first, int64_t last, int64_t bins, int64_t bin, int64_t extent) {
  const int64_t length = last < first ? 1 : last - first + 1;
  std::vector<int64_t> elements;
  for (int64_t at = 0; at < extent; ++at) {
    const int64_t offset = at - first;  // covers [offset, offset + 1) of the region, in bins of length / bins
    if ((offset + 1) * bins > bin * length && offset * bins < (bin + 1) * length) elements.push_back(at);
  }
  return elements;
}

}  // namespace

Status reference(const OracleArgs& args) {
  const auto params = args.params<MaxRoiPoolParams>();
  const OracleTensor &x = args.input(0), &rois = args.input(1);
  for (size_t i = 0; i < rois.real.size(); i += 5)
    if (!(std::trunc(rois.real[i]) >= 0 && rois.real[i] < static_cast<double>(x.shape()[0])))
      return Status::invalidArgument("MaxRoiPool: images of rois must be in [0, {}), got {}", x.shape()[0],
                                     std::isnan(rois.real[i]) ? -1 : std::llround(rois.real[i]));
  forEachCoordinates(args.output().shape(), [&](size_t i, const Coordinates& at) {
    const size_t roi = 5 * static_cast<size_t>(at[0]);
    const auto along = [&](size_t low, size_t axis) {
      return elementsOf(elementOf(rois, roi + low, params.spatial_scale),
                        elementOf(rois, roi + low + 2, params.spatial_scale), params.pooled_shape[axis], at[axis + 2],
                        x.shape()[axis + 2]);
    };
    bool isFirst = true;
    double& best = args.output().real[i];
    for (const int64_t row : along(2, 0))
      for (const int64_t column : along(1, 1)) {
        const auto image = static_cast<int64_t>(rois.real[roi]);
        const double value = x.real[elementAt(x.shape(), {image, at[1], row, column})];
        if (isFirst || std::isnan(value) || value > best) best = std::isnan(best) && !isFirst ? best : value;
        isFirst = false;
      }
  });
  return Status::ok();
}

}  // namespace opkit::ops::max_roi_pool
