#include "engine/op/oracle_elements.h"
#include "ops/concat/concat_parts.h"

namespace opkit::ops::concat {

/// Walks over the inputs until the coordinate along the axis falls into one.
Status reference(const OracleArgs& args) {
  const Shape& whole = args.output().shape();
  const size_t axis = axisFromFront(args.params<ConcatParams>().axis, whole.size());
  forEachCoordinates(whole, [&](size_t i, Coordinates& at) {
    size_t part = 0;
    while (at[axis] >= args.input(part).shape()[axis]) at[axis] -= args.input(part++).shape()[axis];
    copyElement(args.input(part), at, args.output(), i);
  });
  return Status::ok();
}

}  // namespace opkit::ops::concat
