// Hidden elements of pools: those that no window reads.
#include "engine/op/oracle_windows.h"
#include "ops/pool/pool.h"

namespace opkit::ops::pool {

HiddenElements hidden(const OracleArgs& args) {
  const auto plan = planPool(args.params<PoolParams>(), args.input(0).shape());
  return plan ? hiddenBetweenWindows(args, plan->axes) : HiddenElements(args.inputs.size());
}

}  // namespace opkit::ops::pool
