#include "engine/op/oracle_elements.h"
#include "ops/tile/tile_parts.h"

namespace opkit::ops::tile {

/// Counts on within each copy.
Status reference(const OracleArgs& args) {
  const OracleTensor& x = args.input(0);
  forEachCoordinates(args.output().shape(), [&](size_t i, Coordinates& at) {
    for (size_t d = 0; d < at.size(); ++d) at[d] %= x.shape()[d];
    copyElement(x, at, args.output(), i);
  });
  return Status::ok();
}

}  // namespace opkit::ops::tile
