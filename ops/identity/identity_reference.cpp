#include "engine/op/oracle_elements.h"
#include "ops/identity/identity_parts.h"

namespace opkit::ops::identity {

/// Of Identity and of Dropout, which may have a mask too.
Status reference(const OracleArgs& args) {
  visitElements(args.input(0), args.output(), [](const auto& x, auto& y) { y = x; });
  if (args.outputs.size() < 2) return Status::ok();
  OracleTensor& mask = args.output(1);
  for (size_t i = 0; i < static_cast<size_t>(mask.elements()); ++i) copyElement(args.input(1), 0, mask, i);
  return Status::ok();
}

}  // namespace opkit::ops::identity
