#include "ops/reshape/reshape_parts.h"

namespace opkit::ops::reshape {

/// Of all four operators: the same elements in the same order.
Status reference(const OracleArgs& args) {
  visitElements(args.input(0), args.output(), [](const auto& x, auto& y) { y = x; });
  return Status::ok();
}

}  // namespace opkit::ops::reshape
