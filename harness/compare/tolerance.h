// Tolerances: the error bound per element of a numeric class. docs/numerics.md has the table and its sources; only
// tolerance.cpp has the formulas.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "engine/op/op_def.h"
#include "harness/cases/case.h"

namespace opkit::harness {

/// Distance between the neighbours of |value| among the numbers of a float dtype (denormals included).
double ulpOf(DType dtype, double value);
/// `value` rounded once to the dtype, as a double.
double roundTo(DType dtype, double value);

/// False for classes that round even if all inputs are small whole numbers. In the exact lane their own bound holds,
/// and
/// --fuzz does not draw that lane for them.
bool hasExactLane(NumericClass numeric);

/// A class and its formula, as the table of docs/numerics.md has them (u: half a ULP of 1; S: sum of magnitudes; K:
/// terms).
struct ErrorBound {
  const char* name;
  const char* formula;
};
ErrorBound errorBoundOf(NumericClass numeric);

struct Tolerance {
  std::vector<double> bound;  // per element; empty means exact
  double nmseGate = 0;        // the normalised mean square error may not exceed this; at least what rounding may cause
  bool byClass = false;       // specials lane: compare NaN, +Inf, -Inf, finite instead of values
  bool signOfZero = false;    // edges lane, classes Exact, Cast and OneRounding: a zero must have its sign
  // Class Transcendental: the mean of the signed errors, as shares of their bounds, may not exceed this. Infinity: no
  // gate.
  double biasGate = std::numeric_limits<double>::infinity();
};

/// The tolerance of one output of a case of `def`. `scale` multiplies the bounds and, squared, the gate.
Tolerance toleranceOf(const OpDef& def, Lane lane, const OracleTensor& expected, double scale = 1);

}  // namespace opkit::harness
