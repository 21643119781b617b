#include "engine/op/oracle_elements.h"
#include "ops/expand/expand_parts.h"

namespace opkit::ops::expand {

Status reference(const OracleArgs& args) {
  const OracleTensor& x = args.input(0);
  forEachCoordinates(args.output().shape(), [&](size_t i, Coordinates& at) {
    copyElement(x, broadcastElementAt(x.shape(), at), args.output(), i);
  });
  return Status::ok();
}

}  // namespace opkit::ops::expand
