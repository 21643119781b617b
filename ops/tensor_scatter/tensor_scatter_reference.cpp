#include "engine/op/oracle_elements.h"
#include "ops/tensor_scatter/tensor_scatter_parts.h"

namespace opkit::ops::tensor_scatter {

Status reference(const OracleArgs& args) {
  const auto params = args.params<TensorScatterParams>();
  const OracleTensor &cache = args.input(0), &update = args.input(1);
  OracleTensor& y = args.output();
  const size_t axis = axisFromFront(params.axis, cache.shape().size());
  const int64_t extent = cache.shape()[axis];
  visitElements(cache, y, [](const auto& from, auto& to) { to = from; });
  Status status;
  forEachCoordinates(update.shape(), [&](size_t i, Coordinates& at) {
    const int64_t first = args.hasInput(2) ? args.input(2).integer[static_cast<size_t>(at[0])] : 0;
    if (params.mode == WriteMode::Circular) {
      at[axis] = ((first % extent + extent) % extent + at[axis]) % extent;
    } else {
      const auto place = resolveIndex("TensorScatter", first + at[axis], extent);
      if (!place) {
        status = place.error();
        return;
      }
      at[axis] = *place;
    }
    copyElement(update, i, y, elementAt(y.shape(), at));
  });
  return status;
}

}  // namespace opkit::ops::tensor_scatter
