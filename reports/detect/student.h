// Robust estimates of level and spread, and the tail of Student's t distribution.
#pragma once

#include <span>
#include <vector>

namespace opkit::reports::detect {

/// Median; the values' order changes. At least one value.
double medianInPlace(std::span<double> values);

/// Level of a segment of nights. Up to three nights: the one nearest to `reference`, so that every night must show a
/// change. More: the mean of the middle half, which ignores single outlier nights.
double levelOf(std::span<const double> values, double reference);

/// Mean of the middle half (at least the median).
double middleMean(std::span<const double> values);

/// A segment's residuals about `level`, those beyond 3 robust standard deviations cut to that distance.
std::vector<double> winsorizedResiduals(std::span<const double> values, double level);

/// Lag-1 autocorrelation of residuals, corrected for its bias and cut to [0, 0.8]; 0 below 10 values.
double autocorrelation(std::span<const double> residuals);

/// Variance of the mean of `count` values with autocorrelation rho^lag, relative to the variance of one value.
double varianceOfMean(size_t count, double rho);

/// Two-sided tail probability of |t| with `degrees` > 0 degrees of freedom, by the incomplete beta function (continued
/// fraction, modified Lentz method). Relative error below 1e-10.
double studentTail(double t, double degrees);

}  // namespace opkit::reports::detect
