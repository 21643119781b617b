#include <cmath>

#include "engine/op/oracle_elements.h"
#include "ops/center_crop_pad/center_crop_pad_parts.h"

namespace opkit::ops::center_crop_pad {

/// Output position p shows input position p + floor(difference / 2) of an axis that is cropped; an axis that is padded
/// begins with floor(difference / 2) zeros.
Status reference(const OracleArgs& args) {
  const OracleTensor& x = args.input(0);
  forEachCoordinates(args.output().shape(), [&](size_t i, Coordinates& at) {
    bool isInside = true;
    for (size_t d = 0; d < at.size(); ++d) {
      const int64_t longer = x.shape()[d] - args.output().shape()[d];
      const auto half = static_cast<int64_t>(std::floor(std::fabs(static_cast<double>(longer)) * 0.5));
      at[d] += longer < 0 ? -half : half;
      isInside = isInside && at[d] >= 0 && at[d] < x.shape()[d];
    }
    if (isInside) copyElement(x, at, args.output(), i);
  });
  return Status::ok();
}

}  // namespace opkit::ops::center_crop_pad
