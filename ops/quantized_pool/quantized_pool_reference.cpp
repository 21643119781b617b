#include <cmath>

#include "engine/op/oracle_elements.h"
#include "ops/quantized_pool/quantized_pool_parts.h"

namespace opkit::ops::quantized_pool {

Status reference(const OracleArgs& args) {
  const auto asFloat = [](double value) -> double { return static_cast<float>(value); };
  const OracleTensor& x = args.input(0);
  OracleTensor& y = args.output();
  std::vector<int64_t> sums(y.integer.size(), 0);
  Coordinates plane;
  forEachCoordinates(x.shape(), [&](size_t i, const Coordinates& at) {
    plane = at;
    std::fill(plane.begin() + 2, plane.end(), 0);
    sums[elementAt(y.shape(), plane)] += x.integer[i] - args.input(2).integer[0];
  });
  const double count = static_cast<double>(elementCount(x.shape(), 2, x.shape().size()));
  const double ratio = asFloat(asFloat(args.input(1).real[0] * asFloat(1 / count)) / args.input(3).real[0]);
  const bool isSigned = y.desc.dtype == DType::Int8;
  const double least = isSigned ? -128 : 0, greatest = isSigned ? 127 : 255;
  for (size_t i = 0; i < sums.size(); ++i) {
    const double value = asFloat(asFloat(static_cast<double>(sums[i])) * ratio), below = std::floor(value);
    const bool isUp = value - below > 0.5 || (value - below == 0.5 && std::fmod(below, 2) != 0);
    const double whole = below + (isUp ? 1 : 0) + static_cast<double>(args.input(4).integer[0]);
    y.integer[i] = static_cast<int64_t>(std::fmin(std::fmax(whole, least), greatest));
  }
  return Status::ok();
}

}  // namespace opkit::ops::quantized_pool
