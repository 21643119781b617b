#include "engine/op/oracle_elements.h"
#include "ops/max_unpool/max_unpool_parts.h"

namespace opkit::ops::max_unpool {

/// Indices count in the output, whatever decides its extents.
Status reference(const OracleArgs& args) {
  const OracleTensor& x = args.input(0);
  const int64_t elements = elementCount(args.output().shape());
  for (size_t i = 0; i < x.real.size(); ++i) {
    OPKIT_ASSIGN(const int64_t index, resolveIndex("ScatterElements", args.input(1).integer[i], elements));
    copyElement(x, i, args.output(), static_cast<size_t>(index));
  }
  return Status::ok();
}

}  // namespace opkit::ops::max_unpool
