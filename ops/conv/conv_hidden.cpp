// Hidden elements of Conv: those of x that no window reads. Weights are not hidden where their taps lie on padding: a
// padded element is a zero, and zero times NaN is NaN.
#include "engine/op/oracle_windows.h"
#include "ops/conv/conv.h"

namespace opkit::ops::conv {

HiddenElements hidden(const OracleArgs& args) {
  const auto plan = planConv(args.params<ConvParams>(), args.input(0).shape(), args.input(1).shape(), nullptr);
  return plan ? hiddenBetweenWindows(args, plan->axes) : HiddenElements(args.inputs.size());
}

}  // namespace opkit::ops::conv
