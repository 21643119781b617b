#include "engine/op/oracle_elements.h"
#include "ops/where/where_parts.h"

namespace opkit::ops::where {

Status reference(const OracleArgs& args) {
  const OracleTensor& condition = args.input(0);
  forEachCoordinates(args.output().shape(), [&](size_t i, const Coordinates& at) {
    const bool isFirst = condition.integer[broadcastElementAt(condition.shape(), at)] != 0;
    const OracleTensor& from = args.input(isFirst ? 1 : 2);
    copyElement(from, broadcastElementAt(from.shape(), at), args.output(), i);
  });
  return Status::ok();
}

}  // namespace opkit::ops::where
