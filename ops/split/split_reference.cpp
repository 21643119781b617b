#include "engine/op/oracle_elements.h"
#include "ops/split/split_parts.h"

namespace opkit::ops::split {

/// Every part starts where the parts before it end: at listed extents, or at multiples of the rounded-up share.
Status reference(const OracleArgs& args) {
  const OracleTensor& x = args.input(0);
  const size_t axis = axisFromFront(args.params<SplitParams>().axis, x.shape().size());
  const auto parts = static_cast<int64_t>(args.outputs.size());
  const int64_t share = x.shape()[axis] / parts + (x.shape()[axis] % parts != 0);
  int64_t start = 0;
  for (size_t part = 0; part < args.outputs.size(); ++part) {
    forEachCoordinates(args.output(part).shape(), [&](size_t i, Coordinates& at) {
      at[axis] += start;
      copyElement(x, at, args.output(part), i);
    });
    start += args.hasInput(1) ? args.input(1).integer[part] : share;
  }
  return Status::ok();
}

}  // namespace opkit::ops::split
