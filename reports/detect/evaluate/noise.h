// Nights of noise, drawn from recorded series.
#pragma once

#include <memory>
#include <vector>

#include "harness/cases/rng.h"
#include "reports/detect/evaluate/recorded.h"

namespace opkit::reports::detect {

struct NoiseSettings {
  size_t runs = 7;               // process runs per night
  size_t block = 2;              // successive nights drawn together, so that what is correlated stays so
  double outlierNights = 0.005;  // share of nights added on which all runs are 5 to 50 % slower
  double wander = 0.1;           // of the added noise: share of its variance that is common to a night's runs
  double correlation = 0.5;      // of that part, from night to night
};

/// Logarithms of a recorded series about its median. Its spread is the standard deviation of the process runs, by the
/// median absolute deviation: outliers stay outside it.
struct Residuals {
  std::vector<double> runs;
  double spread = 0;
};
/// Series too short for one block are left out.
std::vector<Residuals> residualsOf(const std::vector<Recorded>& recorded, const NoiseSettings& settings);

/// One unchanging series: nights drawn in blocks from recorded residuals, and outlier nights. With a spread above the
/// recorded one, normal noise fills up the difference; part of it wanders from night to night.
class NoiseSeries {
 public:
  NoiseSeries(const Residuals& residuals, double spread, const NoiseSettings& settings, uint64_t seed);

  /// Logarithms of the next night's process runs.
  const std::vector<double>& next();

 private:
  double normal();

  const Residuals& residuals_;
  const NoiseSettings& settings_;
  harness::Rng rng_;
  double added_ = 0;          // standard deviation of the added noise
  double wander_ = 0;         // the part common to tonight's runs, of unit variance
  size_t at_ = 0, left_ = 0;  // of the block: next run, nights left
  std::vector<double> night_;
};

}  // namespace opkit::reports::detect
