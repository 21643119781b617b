#include "ops/features/features_parts.h"

namespace opkit::ops::features {

Status reference(const OracleArgs& args) {
  const long double threshold = args.params<FeaturesParams>().threshold;
  visitElements(args.input(0), args.output(), [&](const auto& x, auto& y) {
    for (size_t i = 0; i < x.size(); ++i) y[i] = static_cast<long double>(x[i]) > threshold ? 1 : 0;
  });
  return Status::ok();
}

}  // namespace opkit::ops::features
