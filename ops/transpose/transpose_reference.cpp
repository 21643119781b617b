#include "engine/op/oracle_elements.h"
#include "ops/transpose/transpose_parts.h"

namespace opkit::ops::transpose {

Status reference(const OracleArgs& args) {
  const OracleTensor& x = args.input(0);
  const size_t rank = x.shape().size();
  const auto perm = args.params<TransposeParams>().perm;
  Coordinates source(rank);
  forEachCoordinates(args.output().shape(), [&](size_t i, Coordinates& at) {
    for (size_t d = 0; d < rank; ++d) source[perm.empty() ? rank - 1 - d : axisFromFront(perm[d], rank)] = at[d];
    copyElement(x, source, args.output(), i);
  });
  return Status::ok();
}

}  // namespace opkit::ops::transpose
