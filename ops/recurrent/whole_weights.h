// Weights that were 8-bit integers before they were dequantised: whole numbers of a step, which take a quarter of the
// memory. The product of number and step, rounded to f32, is the weight itself, so that no result changes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace opkit::ops::recurrent {

/// Defined where `weight` is a whole number of steps, from -128 to 127.
inline int8_t inSteps(float weight, float step) { return static_cast<int8_t>(std::nearbyint(weight / step)); }

inline bool isInSteps(std::span<const float> weights, float step) {
  return std::ranges::all_of(weights, [step](float weight) {
    const float whole = std::nearbyint(weight / step);
    return whole >= -128 && whole <= 127 && whole * step == weight;
  });
}

/// A step of which all weights are whole numbers; 0 if none is found.
inline float commonStep(std::span<const float> weights) {
  float largest = 0;
  for (const float weight : weights) largest = std::max(largest, std::fabs(weight));
  if (!(largest > 0) || !std::isfinite(largest)) return 0;
  for (int whole = 128; whole > 0; --whole) {
    const float near = largest / static_cast<float>(whole);  // the step may be a neighbour, by rounding
    for (const float step : {near, std::nextafter(near, 0.0f), std::nextafter(near, largest)})
      if (step > 0 && isInSteps(weights, step)) return step;
  }
  return 0;
}

/// The step of each of `parts` equal parts; empty if one has none.
inline std::vector<float> commonSteps(std::span<const float> weights, int64_t parts) {
  std::vector<float> steps;
  const size_t length = parts == 0 ? 0 : weights.size() / static_cast<size_t>(parts);
  for (size_t i = 0; i < static_cast<size_t>(parts); ++i) {
    steps.push_back(commonStep(weights.subspan(i * length, length)));
    if (steps.back() == 0) return {};
  }
  return steps;
}

}  // namespace opkit::ops::recurrent
