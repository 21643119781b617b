#include "engine/op/oracle_elements.h"
#include "ops/max_unpool/max_unpool_parts.h"

namespace opkit::ops::max_unpool {

/// The coordinates of element `index` of the tensor that was pooled, which the output may exceed at its ends.
Status reference(const OracleArgs& args) {
  const auto params = args.params<MaxUnpoolParams>();
  const OracleTensor& x = args.input(0);
  Shape pooled = x.shape();
  for (size_t d = 2; d < pooled.size(); ++d) {
    const size_t axis = d - 2;
    const int64_t step = params.strides.empty() ? 1 : params.strides[axis];
    int64_t last = params.kernel_shape[axis] - 1;  // of the last window's elements
    for (int64_t window = 1; window < x.shape()[d]; ++window) last += step;
    if (!params.pads.empty()) last -= params.pads[axis] + params.pads[axis + pooled.size() - 2];
    pooled[d] = x.shape()[d] == 0 ? 0 : last + 1;
  }
  int64_t elements = 1;
  for (const int64_t extent : pooled) elements *= extent;
  for (size_t i = 0; i < x.real.size(); ++i) {
    OPKIT_ASSIGN(int64_t index, resolveIndex("ScatterElements", args.input(1).integer[i], elements));
    Coordinates at(pooled.size());
    for (size_t d = pooled.size(); d-- > 0; index /= pooled[d]) at[d] = index % pooled[d];
    copyElement(x, i, args.output(), elementAt(args.output().shape(), at));
  }
  return Status::ok();
}

}  // namespace opkit::ops::max_unpool
