// Hidden elements of TensorScatter: those of the old cache in whose place a token is written.
#include "engine/op/oracle_elements.h"
#include "ops/tensor_scatter/tensor_scatter_parts.h"

namespace opkit::ops::tensor_scatter {

HiddenElements hidden(const OracleArgs& args) {
  HiddenElements result(args.inputs.size());
  const OracleTensor &cache = args.input(0), &update = args.input(1);
  const size_t axis = axisFromFront(args.params<TensorScatterParams>().axis, cache.shape().size());
  const int64_t extent = cache.shape()[axis], tokens = update.shape()[axis];
  result[0].resize(static_cast<size_t>(cache.elements()));
  forEachCoordinates(cache.shape(), [&](size_t i, const Coordinates& at) {
    const int64_t first = args.hasInput(2) ? args.input(2).integer[static_cast<size_t>(at[0])] : 0;
    // In linear mode too: negative indices count from the end, and no token is beyond it.
    const int64_t token = ((at[axis] - first % extent) % extent + extent) % extent;
    result[0][i] = token < tokens;
  });
  return result;
}

}  // namespace opkit::ops::tensor_scatter
