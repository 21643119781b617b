#include "engine/op/oracle_elements.h"
#include "ops/shape/shape.h"

namespace opkit::ops::shape {

/// The extents of the axes from `start` on and before `end`; both may be counted from the end, and lie outside.
Status shapeReference(const OracleArgs& args) {
  const auto params = args.params<ShapeParams>();
  const Shape& shape = args.input(0).shape();
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t first = params.start < 0 ? rank + params.start : params.start;
  const int64_t last = params.end < 0 ? rank + params.end : params.end;
  std::vector<int64_t> listed;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (axis >= first && axis < last) listed.push_back(shape[static_cast<size_t>(axis)]);
  OPKIT_TRY(requireExtents(args.output().shape(), {listed}));
  args.output().integer = listed;
  return Status::ok();
}

Status sizeReference(const OracleArgs& args) {
  int64_t count = 1;
  for (const int64_t extent : args.input(0).shape()) count *= extent;
  args.output().integer = {count};
  return Status::ok();
}

Status eyeLikeReference(const OracleArgs& args) {
  OracleTensor one({args.output().desc.dtype, {}});
  visitElements(one, one, [](const auto&, auto& value) { value = {1}; });
  forEachCoordinates(args.output().shape(), [&](size_t i, const Coordinates& at) {
    if (at[1] - at[0] == args.params<EyeLikeParams>().k) copyElement(one, 0, args.output(), i);
  });
  return Status::ok();
}

}  // namespace opkit::ops::shape
