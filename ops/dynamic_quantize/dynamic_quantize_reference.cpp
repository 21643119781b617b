#include <algorithm>
#include <cmath>

#include "ops/dynamic_quantize/dynamic_quantize_parts.h"
#include "ops/dynamic_quantize/range.h"

namespace opkit::ops::dynamic_quantize {
namespace {

double asFloat(double value) { return static_cast<float>(value); }

/// Nearest whole number in [0, 255], an even one if two are as near; 0 for NaN.
int64_t byteOf(double value) {
  if (std::isnan(value)) return 0;
  const double limited = std::clamp(value, -1.0, 256.0), below = std::floor(limited), rest = limited - below;
  const bool isUp = rest > 0.5 || (rest == 0.5 && std::fmod(below, 2) != 0);
  return std::clamp<int64_t>(static_cast<int64_t>(below) + isUp, 0, 255);
}

struct Range {
  double scale = 1;
  int64_t zeroPoint = 0;
};

/// Of numbers between `least` and `greatest`; a NaN makes the scale one.
Range rangeOf(double least, double greatest) {
  if (std::isnan(least) || std::isnan(greatest)) return {std::nan(""), 0};
  least = std::min(least, 0.0);
  greatest = std::max(greatest, 0.0);
  if (least == greatest) return {};
  const double scale = asFloat(asFloat(greatest - least) / 255);
  return {scale, byteOf(asFloat(-least / scale))};
}

}  // namespace

Status rangeReference(const OracleArgs& args) {
  const Range range = rangeOf(args.input(0).real[0], args.input(1).real[0]);
  args.output(0).real[0] = range.scale;
  if (args.outputs.size() > 1) args.output(1).integer[0] = range.zeroPoint;
  return Status::ok();
}

Status reference(const OracleArgs& args) {
  const std::vector<double>& x = args.input(0).real;
  double least = 0, greatest = 0;
  for (const double value : x) {
    least = std::isnan(value) || value < least ? value : least;
    greatest = std::isnan(value) || value > greatest ? value : greatest;
    if (std::isnan(value)) break;
  }
  const Range range = rangeOf(least, greatest);
  for (size_t i = 0; i < x.size(); ++i) {
    // A whole number far outside needs no exactness.
    const double quotient = std::clamp(asFloat(x[i] / range.scale), -1e6, 1e6);
    const double whole = std::isnan(quotient) ? -1e6 : std::nearbyint(quotient);
    args.output(0).integer[i] = byteOf(whole + static_cast<double>(range.zeroPoint));
  }
  if (args.outputs.size() > 1) args.output(1).real[0] = range.scale;
  if (args.outputs.size() > 2) args.output(2).integer[0] = range.zeroPoint;
  return Status::ok();
}

}  // namespace opkit::ops::dynamic_quantize
