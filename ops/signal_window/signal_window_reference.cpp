// The sums of cosines as ONNX writes them, in long double: a sum near 0 cancels.
#include "ops/signal_window/signal_window_oracles.h"

#include <cmath>
#include <numbers>

#include "ops/signal_window/signal_window_parts.h"

namespace opkit::ops::signal_window {
namespace {

using Real = long double;

/// a + b cos x + c cos 2x for x from 0 to 2 pi, given a + b + c; from pi on mirrored, where sin is more precise.
Status cosines(const OracleArgs& args, Real end, Real b, Real c) {
  OracleTensor& y = args.output();
  const int64_t last = args.params<WindowParams>().periodic ? y.elements() : y.elements() - 1;
  for (int64_t i = 0; i < y.elements(); ++i) {
    const int64_t mirrored = 2 * i > last ? last - i : i;
    const Real x = last == 0 ? std::numbers::pi_v<Real>
                             : 2 * std::numbers::pi_v<Real> * static_cast<Real>(mirrored) / static_cast<Real>(last);
    const Real half = std::sin(x / 2), whole = std::sin(x);  // cos x = 1 - 2 half^2, cos 2x = 1 - 2 whole^2
    const Real value = end - 2 * b * half * half - 2 * c * whole * whole;
    if (y.isReal())
      y.real[static_cast<size_t>(i)] = static_cast<double>(value);
    else
      y.integer[static_cast<size_t>(i)] = static_cast<int64_t>(static_cast<double>(value));
  }
  return Status::ok();
}

}  // namespace

Status hannReference(const OracleArgs& args) { return cosines(args, 0, -0.5L, 0); }
Status hammingReference(const OracleArgs& args) { return cosines(args, 4.0L / 46, -21.0L / 46, 0); }
Status blackmanReference(const OracleArgs& args) { return cosines(args, 0, -0.5L, 0.08L); }

}  // namespace opkit::ops::signal_window
