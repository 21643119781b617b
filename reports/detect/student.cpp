#include "reports/detect/student.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace opkit::reports::detect {
namespace {

constexpr double kMadToSigma = 1.4826;  // of a normal distribution
constexpr double kCut = 3;              // robust standard deviations

/// Continued fraction of the regularised incomplete beta function I_x(a, b); converges fast for x < (a+1)/(a+b+2).
double betaFraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  const auto nonzero = [](double value) { return std::fabs(value) < kTiny ? kTiny : value; };
  double c = 1, d = 1 / nonzero(1 - (a + b) * x / (a + 1)), fraction = d;
  for (int m = 1; m <= 500; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / nonzero(1 + even * d);
    c = nonzero(1 + even / c);
    fraction *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / nonzero(1 + odd * d);
    c = nonzero(1 + odd / c);
    fraction *= d * c;
    if (std::fabs(d * c - 1) < 1e-14) break;
  }
  return fraction;
}

double incompleteBeta(double a, double b, double x) {
  if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  return x < (a + 1) / (a + b + 2) ? front * betaFraction(a, b, x) / a : 1 - front * betaFraction(b, a, 1 - x) / b;
}

}  // namespace

double medianInPlace(std::span<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return values.size() % 2 ? *middle : (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double middleMean(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const size_t cut = (sorted.size() - 1) / 4;
  double sum = 0;
  for (size_t i = cut; i < sorted.size() - cut; ++i) sum += sorted[i];
  return sum / static_cast<double>(sorted.size() - 2 * cut);
}

double cautiousLevel(std::span<const double> values, double reference, double reach) {
  // Distances towards the side on which the middle of the values lies.
  const double side = middleMean(values) >= reference ? 1 : -1;
  double nearest = std::numeric_limits<double>::infinity(), sum = 0;
  for (const double value : values) nearest = std::min(nearest, side * (value - reference));
  for (const double value : values) sum += std::min(side * (value - reference), nearest + reach);
  return reference + side * sum / static_cast<double>(values.size());
}

std::vector<double> winsorized(std::span<const double> residuals) {
  std::vector<double> cutResiduals(residuals.begin(), residuals.end()), sizes;
  for (const double residual : residuals) sizes.push_back(std::fabs(residual));
  const double cut = sizes.empty() ? 0 : kCut * kMadToSigma * medianInPlace(sizes);
  if (cut > 0)
    for (double& residual : cutResiduals) residual = std::clamp(residual, -cut, cut);
  return cutResiduals;
}

double quantileInPlace(std::span<double> values, double share) {
  std::sort(values.begin(), values.end());
  const double at = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

double autocorrelation(std::span<const double> residuals) {
  if (residuals.size() < 10) return 0;
  double product = 0, square = 0;
  for (size_t i = 0; i < residuals.size(); ++i) {
    square += residuals[i] * residuals[i];
    if (i > 0) product += residuals[i] * residuals[i - 1];
  }
  if (square <= 0) return 0;
  return std::clamp(product / square + 1 / static_cast<double>(residuals.size()), 0.0, 0.8);
}

double varianceOfMean(size_t count, double rho) {
  const auto n = static_cast<double>(count);
  double sum = 1, power = 1;
  for (size_t lag = 1; lag < count && power > 1e-6; ++lag) {
    power *= rho;
    sum += 2 * (1 - static_cast<double>(lag) / n) * power;
  }
  return sum / n;
}

double studentTail(double t, double degrees) { return incompleteBeta(degrees / 2, 0.5, degrees / (degrees + t * t)); }

}  // namespace opkit::reports::detect
