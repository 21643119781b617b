#include "reports/detect/evaluate/noise.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "reports/detect/student.h"

namespace opkit::reports::detect {

std::vector<Residuals> residualsOf(const std::vector<Recorded>& recorded, const NoiseSettings& settings) {
  std::vector<Residuals> all;
  for (const Recorded& series : recorded) {
    if (series.runs.size() < settings.runs * settings.block) continue;
    Residuals residuals;
    for (const double value : series.runs) residuals.runs.push_back(std::log(value));
    std::vector<double> sizes = residuals.runs;
    const double level = medianInPlace(sizes);
    for (double& value : residuals.runs) value -= level;
    for (size_t i = 0; i < sizes.size(); ++i) sizes[i] = std::fabs(residuals.runs[i]);
    residuals.spread = 1.4826 * medianInPlace(sizes);
    all.push_back(std::move(residuals));
  }
  return all;
}

NoiseSeries::NoiseSeries(const Residuals& residuals, double spread, const NoiseSettings& settings, uint64_t seed)
    : residuals_(residuals),
      settings_(settings),
      rng_(seed),
      added_(std::sqrt(std::max(0.0, spread * spread - residuals.spread * residuals.spread))) {
  wander_ = normal();
}

double NoiseSeries::normal() {
  const double radius = std::sqrt(-2 * std::log(1 - rng_.uniform()));
  return radius * std::cos(2 * std::numbers::pi * rng_.uniform());
}

const std::vector<double>& NoiseSeries::next() {
  if (left_ == 0) {
    left_ = settings_.block;
    at_ = rng_.next() % (residuals_.runs.size() - settings_.runs * settings_.block + 1);
  }
  --left_;
  const double rho = settings_.correlation;
  wander_ = rho * wander_ + std::sqrt(1 - rho * rho) * normal();
  const double outlier = rng_.uniform() < settings_.outlierNights ? rng_.uniform(0.05, 0.5) : 0;
  night_.clear();
  for (size_t i = 0; i < settings_.runs; ++i) {
    const double own = std::sqrt(1 - settings_.wander) * normal(), common = std::sqrt(settings_.wander) * wander_;
    night_.push_back(residuals_.runs[at_++] + added_ * (own + common) + outlier);
  }
  return night_;
}

}  // namespace opkit::reports::detect
