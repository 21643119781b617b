#include "engine/op/scatter.h"

namespace opkit {
Status checkCombine(Combine combine, const ShapeArgs& args) {
  const DType data = args.input(0).dtype, updates = args.input(2).dtype;
  if (data != updates)
    return Status::invalidArgument("updates must be {} like the data, got {}", nameOf(data), nameOf(updates));
  if (combine > Combine::Minimum)
    return Status::invalidArgument("reduction must be in [0, {}], got {}", static_cast<int>(Combine::Minimum),
                                   static_cast<int>(combine));
  return Status::ok();
}

}  // namespace opkit
