#include "harness/compare/compare.h"

#include <cmath>
#include <limits>

#include "engine/tensor/float_format.h"

namespace opkit::harness {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Running sums of one comparison.
struct Tally {
  Comparison result;
  // Squares of doubles leave the range of double.
  long double errorSquares = 0;
  long double expectedSquares = 0;
  double signedShares = 0;  // of the bounds
  int64_t shares = 0;
  double worstRatio = -1;
  std::vector<bool>* wrong = nullptr;

  void element(int64_t index, double expected, double got, double error, double bound, bool ok, bool poisoned) {
    ++result.elements;
    const double ratio =
        ok ? (bound > 0 ? error / bound : 0) : (bound > 0 && error > bound ? error / bound : kInfinity);
    if (!ok) ++result.failed;
    if (wrong) wrong->push_back(!ok);
    if (!ok && poisoned) ++result.unwritten;
    if (ratio > worstRatio) {
      worstRatio = ratio;
      result.worst = index;
      result.expected = expected;
      result.got = got;
      result.bound = bound;
    }
  }
  void difference(double expected, double error, double ulp) {
    errorSquares += static_cast<long double>(error) * error;
    expectedSquares += static_cast<long double>(expected) * expected;
    result.maxAbs = std::max(result.maxAbs, error);
    if (expected != 0) result.maxRel = std::max(result.maxRel, error / std::fabs(expected));
    result.maxUlp = std::max(result.maxUlp, error / ulp);
    countUlps(error / ulp);
  }
  void countUlps(double ulps) {
    const auto bucket = std::find_if(kUlpBuckets.begin(), kUlpBuckets.end(), [&](double most) { return ulps <= most; });
    ++result.ulps[static_cast<size_t>(bucket - kUlpBuckets.begin())];
  }
  void countSpecials(double expected, double got) {
    result.nanGot += std::isnan(got);
    result.nanExpected += std::isnan(expected);
    result.infGot += std::isinf(got);
    result.infExpected += std::isinf(expected);
  }
};

enum class Class { Nan, PlusInf, MinusInf, Finite };

Class classOf(double value) {
  if (std::isnan(value)) return Class::Nan;
  if (std::isinf(value)) return value > 0 ? Class::PlusInf : Class::MinusInf;
  return Class::Finite;
}

/// Any value of 8 bits may be a result; `check` finds unwritten ones by a second run (Checker::checkPoison).
template <class T>
bool isPoison(const T& element) {
  if constexpr (sizeof(T) == 1) return false;
  const auto* bytes = reinterpret_cast<const unsigned char*>(&element);
  return std::all_of(bytes, bytes + sizeof(T), [](unsigned char byte) { return byte == 0xFF; });
}

template <class T>
double widen(T value) {
  if constexpr (std::is_same_v<T, Half>)
    return toFloat(value);
  else
    return static_cast<double>(value);
}

/// Where a finite value or the result is beyond the largest number: whether the result is within the bound. What rounds
/// past the largest number may stay just below it, and what is just below may round past it.
bool staysNear(DType dtype, double want, double have, double bound) {
  if (std::isfinite(have)) return std::fabs(have - want) <= bound;
  return std::isinf(have) && std::isfinite(bound) && roundTo(dtype, want + std::copysign(bound, have)) == have;
}

/// `have(i)` is element i, widened; `poisoned(i)`: whether it was never written.
template <class Have, class Poisoned>
void compareReal(const OracleTensor& expected, DType dtype, const Have& haveAt, const Poisoned& poisoned,
                 const Tolerance& tolerance, Tally& tally) {
  for (size_t i = 0; i < expected.real.size(); ++i) {
    const double want = expected.real[i];
    const double rounded = roundTo(dtype, want);
    const double have = haveAt(i);
    const double bound = tolerance.bound.empty() ? 0 : tolerance.bound[i];
    tally.countSpecials(rounded, have);
    bool ok = false;
    double error = 0;
    if (tolerance.byClass || !std::isfinite(rounded) || !std::isfinite(have)) {
      ok = classOf(rounded) == classOf(have);
      if (!ok && !tolerance.byClass && std::isfinite(want)) ok = staysNear(dtype, want, have, bound);
      error = ok ? 0 : kInfinity;
      tally.countUlps(error);
    } else {
      // A zero bound means the rounded value itself: the oracle of an exact operator may still need rounding.
      const double target = bound == 0 ? rounded : want;
      error = std::fabs(have - target);
      ok = error <= bound;
      if (tolerance.signOfZero && rounded == 0 && have == 0 && std::signbit(rounded) != std::signbit(have)) {
        ok = false;
        error = kInfinity;
      }
      tally.difference(want, error, ulpOf(dtype, want));
      tally.signedShares += bound > 0 ? (have - target) / bound : 0;
      ++tally.shares;
    }
    tally.element(static_cast<int64_t>(i), want, have, error, bound, ok, poisoned(i));
  }
}

template <class T>
void compareIntegers(const OracleTensor& expected, const Tensor& got, Tally& tally) {
  const std::span<T> elements = got.data<T>();
  for (size_t i = 0; i < elements.size(); ++i) {
    T want = static_cast<T>(expected.integer[i]);
    if (got.desc.dtype == DType::Bool) want = static_cast<T>(expected.integer[i] != 0);
    const bool ok = elements[i] == want;
    const double error = std::fabs(static_cast<double>(elements[i]) - static_cast<double>(want));
    tally.difference(static_cast<double>(want), error, 1);
    tally.element(static_cast<int64_t>(i), static_cast<double>(want), static_cast<double>(elements[i]), error, 0, ok,
                  isPoison(elements[i]));
  }
}

void compareElements(const OracleTensor& expected, const Tensor& got, const Tolerance& tolerance, Tally& tally) {
  const DType dtype = got.desc.dtype;
  if (isPacked(dtype) && !isFloat(dtype)) {
    for (size_t i = 0; i < static_cast<size_t>(got.desc.elements()); ++i) {
      const double have = readCoded(got, i), want = static_cast<double>(expected.integer[i]);
      tally.difference(want, std::fabs(have - want), 1);
      tally.element(static_cast<int64_t>(i), want, have, std::fabs(have - want), 0, have == want, false);
    }
    return;
  }
  if (isCodedFloat(dtype)) {
    const auto isPoisoned = [&](size_t i) { return bitsOf(dtype) == 16 && isPoison(got.data<uint16_t>()[i]); };
    return compareReal(
        expected, dtype, [&](size_t i) { return readCoded(got, i); }, isPoisoned, tolerance, tally);
  }
  visitDType(dtype, [&](auto tag) {
    using T = decltype(tag);
    if constexpr (std::is_same_v<T, Half> || std::is_floating_point_v<T>) {
      const std::span<T> elements = got.data<T>();
      compareReal(
          expected, dtype, [&](size_t i) { return widen(elements[i]); },
          [&](size_t i) { return isPoison(elements[i]); }, tolerance, tally);
    } else {
      compareIntegers<T>(expected, got, tally);
    }
  });
}

std::string failureLine(const Comparison& c, const Shape& shape, const Tolerance& tolerance) {
  if (c.failed == 0 && c.nmse <= tolerance.nmseGate)
    return fmt::format("the mean of the signed errors is {:.2g} of the bound, its gate {:.2g}", c.bias,
                       tolerance.biasGate);
  if (c.failed == 0) return fmt::format("NMSE {:.3g} exceeds its gate {:.3g}", c.nmse, tolerance.nmseGate);
  return fmt::format("{} of {} elements outside their bound; worst at {}: expected {:.9g}, got {:.9g}, bound {:.3g}",
                     c.failed, c.elements, coordinates(shape, c.worst), c.expected, c.got, c.bound);
}

}  // namespace

std::string coordinates(const Shape& shape, int64_t index) {
  Shape position(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    const int64_t extent = std::max<int64_t>(shape[d], 1);
    position[d] = index % extent;
    index /= extent;
  }
  return opkit::toString(position);
}

Comparison compareTensor(const OracleTensor& expected, const Tensor& got, const Tolerance& tolerance,
                         std::vector<bool>* wrong) {
  Tally tally;
  if (wrong) wrong->clear();
  tally.wrong = wrong;
  if (expected.desc != got.desc) {
    tally.result.reason = fmt::format("expected {}, got {}", expected.desc.toString(), got.desc.toString());
    tally.result.failed = std::max<int64_t>(expected.elements(), 1);
    tally.result.elements = expected.elements();
    tally.result.margin = kInfinity;
    return tally.result;
  }
  compareElements(expected, got, tolerance, tally);
  Comparison result = tally.result;
  // x/0 is +Inf: fails
  result.nmse = tally.errorSquares == 0 ? 0 : static_cast<double>(tally.errorSquares / tally.expectedSquares);
  result.margin = std::max(tally.worstRatio, 0.0);
  result.bias = tally.shares == 0 ? 0 : tally.signedShares / static_cast<double>(tally.shares);
  const bool gated =
      tolerance.byClass || (result.nmse <= tolerance.nmseGate && std::fabs(result.bias) <= tolerance.biasGate);
  result.pass = result.failed == 0 && gated;
  if (!result.pass) result.reason = failureLine(result, got.desc.shape, tolerance);
  return result;
}

void merge(Comparison& total, const Comparison& one) {
  const bool worse = one.margin > total.margin || total.worst < 0;
  total.pass = total.pass && one.pass;
  if (total.reason.empty()) total.reason = one.reason;
  if (worse) {
    total.worst = one.worst;
    total.expected = one.expected;
    total.got = one.got;
    total.bound = one.bound;
  }
  total.elements += one.elements;
  total.failed += one.failed;
  total.unwritten += one.unwritten;
  total.maxAbs = std::max(total.maxAbs, one.maxAbs);
  total.maxRel = std::max(total.maxRel, one.maxRel);
  total.maxUlp = std::max(total.maxUlp, one.maxUlp);
  total.nmse = std::max(total.nmse, one.nmse);
  total.margin = std::max(total.margin, one.margin);
  total.nanGot += one.nanGot;
  total.nanExpected += one.nanExpected;
  total.infGot += one.infGot;
  total.infExpected += one.infExpected;
  for (size_t i = 0; i < total.ulps.size(); ++i) total.ulps[i] += one.ulps[i];
}

}  // namespace opkit::harness
