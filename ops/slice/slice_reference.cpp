#include "engine/op/oracle_elements.h"
#include "ops/slice/slice_parts.h"

namespace opkit::ops::slice {
namespace {

/// The positions that x[start:end:step] takes along an axis. ONNX clamps a start to [0, extent] for a positive step and
/// to [0, extent - 1] for a negative one, where Python would take nothing from a start before the axis; an end to
/// [0, extent] and to [-1, extent - 1].
std::vector<int64_t> positionsOf(int64_t start, int64_t end, int64_t step, int64_t extent) {
  std::vector<int64_t> positions;
  if (extent == 0) return positions;
  const bool forward = step > 0;
  const int64_t last = forward ? extent : extent - 1;
  const auto place = [&](int64_t at, int64_t first) {
    if (at < 0) at += extent;
    return at < first ? first : at > last ? last : at;
  };
  const int64_t stop = place(end, forward ? 0 : -1);
  for (int64_t at = place(start, 0); forward ? at < stop : at > stop; at += step) {
    positions.push_back(at);
    if (step >= extent || step <= -extent) break;  // the next would be outside, and might overflow
  }
  return positions;
}

}  // namespace

Status reference(const OracleArgs& args) {
  const OracleTensor& x = args.input(0);
  std::vector<std::vector<int64_t>> positions;
  for (const int64_t extent : x.shape()) positions.push_back(positionsOf(0, extent, 1, extent));
  for (size_t i = 0; i < args.input(1).integer.size(); ++i) {
    const int64_t listed = args.hasInput(3) ? args.input(3).integer[i] : static_cast<int64_t>(i);
    const int64_t step = args.hasInput(4) ? args.input(4).integer[i] : 1;
    const size_t axis = axisFromFront(listed, x.shape().size());
    positions[axis] = positionsOf(args.input(1).integer[i], args.input(2).integer[i], step, x.shape()[axis]);
  }
  OPKIT_TRY(requireExtents(args.output().shape(), positions));
  forEachCoordinates(args.output().shape(), [&](size_t i, Coordinates& at) {
    for (size_t d = 0; d < at.size(); ++d) at[d] = positions[d][static_cast<size_t>(at[d])];
    copyElement(x, at, args.output(), i);
  });
  return Status::ok();
}

}  // namespace opkit::ops::slice
