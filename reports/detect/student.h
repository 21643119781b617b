// Robust estimates of level and spread, and the tail of Student's t distribution.
#pragma once

#include <span>
#include <vector>

namespace opkit::reports::detect {

/// Median; the values' order changes. At least one value.
double medianInPlace(std::span<double> values);

/// Quantile with linear interpolation; share in [0, 1]. At least one value; they are sorted.
double quantileInPlace(std::span<double> values, double share);

/// Mean of few nights, cautious of outliers: nights further from `reference` than the nearest one plus `reach` count as
/// being there. One normal night among outliers thus keeps the level near the reference.
double cautiousLevel(std::span<const double> values, double reference, double reach);

/// Mean of the middle half (at least the median).
double middleMean(std::span<const double> values);

/// Residuals, those beyond 3 robust standard deviations cut to that distance.
std::vector<double> winsorized(std::span<const double> residuals);

/// Lag-1 autocorrelation of residuals, corrected for its bias and cut to [0, 0.8]; 0 below 10 values.
double autocorrelation(std::span<const double> residuals);

/// Variance of the mean of `count` values with autocorrelation rho^lag, relative to the variance of one value.
double varianceOfMean(size_t count, double rho);

/// Two-sided tail probability of |t| with `degrees` > 0 degrees of freedom, by the incomplete beta function (continued
/// fraction, modified Lentz method). Relative error below 1e-10.
double studentTail(double t, double degrees);

}  // namespace opkit::reports::detect
