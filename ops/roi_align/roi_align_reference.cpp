#include <cmath>

#include "engine/op/oracle_elements.h"
#include "ops/roi_align/roi_align_parts.h"

namespace opkit::ops::roi_align {
namespace {

/// The samples of one bin along an axis. Places are defined in the precision of the regions, P, each operation rounded
/// once: which samples count must not depend on roundings.
template <class P>
std::vector<double> placesOf(const RoiAlignParamsT& params, double from, double to, int64_t bins, int64_t bin) {
  const P scale = params.spatial_scale, shift = params.half_pixel ? P{0.5} : P{0};
  const P scaledFrom = static_cast<P>(from) * scale, scaledTo = static_cast<P>(to) * scale;
  const P origin = scaledFrom - shift, end = scaledTo - shift;
  P length = end - origin;
  if (!params.half_pixel && length < 1) length = 1;
  const P share = length / static_cast<P>(bins);
  int64_t count = params.sampling_ratio;
  if (count == 0 && share > 0) count = static_cast<int64_t>(std::ceil(std::fmin(share, P{1024})));
  std::vector<double> places;
  const P before = static_cast<P>(bin) * share, corner = origin + before;
  for (int64_t k = 0; k < count; ++k) {
    const P within = (static_cast<P>(2 * k + 1) / 2) * share;
    const P distance = within / static_cast<P>(count);
    places.push_back(static_cast<double>(corner + distance));
  }
  return places;
}

/// The two elements around a place and their weights; nothing beyond an element outside.
std::vector<std::pair<int64_t, double>> neighbours(double place, int64_t extent) {
  if (!(place >= -1 && place <= static_cast<double>(extent))) return {};
  const double last = static_cast<double>(extent - 1), at = std::fmin(std::fmax(place, 0), last);
  const double part = at - std::trunc(at);
  const auto first = static_cast<int64_t>(std::trunc(at));
  return {{first, 1 - part}, {std::min(first + 1, extent - 1), part}};
}

struct Fold {
  double sum = 0, largest = -INFINITY;
  double magnitude = 0, moved = 0;  // of the terms, and by the rounding of places
  int64_t samples = 0;
};

void addSample(const OracleTensor& x, Coordinates at, double y, double z, Fold& fold) {
  double least = INFINITY, most = -INFINITY;
  ++fold.samples;
  for (const auto& [row, rowWeight] : neighbours(y, x.shape()[2]))
    for (const auto& [column, columnWeight] : neighbours(z, x.shape()[3])) {
      at[2] = row;
      at[3] = column;
      const double value = x.real[elementAt(x.shape(), at)], term = rowWeight * columnWeight * value;
      fold.sum += term;
      fold.largest = std::fmax(fold.largest, term);
      fold.magnitude += std::fabs(term);
      least = std::fmin(least, value);
      most = std::fmax(most, value);
    }
  if (least <= most)
    fold.moved += (std::fabs(y) + std::fabs(z)) * (most - least);
  else
    fold.largest = std::fmax(fold.largest, 0);
}

}  // namespace

Status reference(const OracleArgs& args) {
  const auto params = args.params<RoiAlignParams>();
  const OracleTensor &x = args.input(0), &rois = args.input(1);
  OracleTensor& y = args.output();
  for (const int64_t image : args.input(2).integer)
    if (image < 0 || image >= x.shape()[0])
      return Status::invalidArgument("RoiAlign: batch_indices must be in [0, {}), got {}", x.shape()[0], image);
  const auto places = rois.desc.dtype == DType::Float64 ? placesOf<double> : placesOf<float>;
  if (args.wantMagnitude) y.magnitude.assign(y.real.size(), 0.0);
  y.terms = 4;
  forEachCoordinates(y.shape(), [&](size_t i, const Coordinates& at) {
    const auto region = static_cast<size_t>(at[0]);
    const double* corners = rois.real.data() + 4 * region;
    Fold fold;
    for (const double down : places(params, corners[1], corners[3], params.output_height, at[2]))
      for (const double across : places(params, corners[0], corners[2], params.output_width, at[3]))
        addSample(x, {args.input(2).integer[region], at[1], 0, 0}, down, across, fold);
    if (fold.samples == 0) return;
    const bool isMean = params.mode == RoiMode::Mean;
    const auto count = static_cast<double>(fold.samples);
    y.real[i] = isMean ? fold.sum / count : fold.largest;
    y.terms = std::max(y.terms, 4 * fold.samples);
    fold.magnitude += fold.moved / std::sqrt(4 * count);  // few errors of places are alike
    if (args.wantMagnitude) y.magnitude[i] = fold.magnitude / (isMean ? count : 1);
  });
  return Status::ok();
}

}  // namespace opkit::ops::roi_align
