// A handful of operators for the engine's own tests: the engine itself knows none.
#pragma once

#include "engine/op/op_registry.h"

namespace opkit::test {

/// AddOne (oracle), Negate (oracle), View and Mirror (lowered), ShapeOf (shape only), FillTo (shape from
/// contents), Concat2 (lowered, two regions), Stateful (a CPU Creator that refuses odd element counts).
OpRegistry makeTestOps();

}  // namespace opkit::test
