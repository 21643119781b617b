// Random numbers: what kernels take from the parameters. Plain values.
#pragma once

#include "engine/op/op_def.h"
#include "ops/random/random_parts.h"

namespace opkit::ops::random {

/// The values of a fill: offset + factor * number, rounded after each of the two operations.
struct Fill {
  bool isNormal = false;
  uint64_t key = 0;
  float offset = 0;
  float factor = 1;
};

/// REQUIRES the type of a card, RandomUniform or RandomNormal.
inline Fill fillOf(std::string_view type, const RandomParamsT& params) {
  if (type == "RandomNormal") return {true, params.key, params.mean, params.scale};
  return {false, params.key, params.low, params.high - params.low};
}

/// For nodes without an input, which a resize computes, as the kernels of the CPU do.
Status foldRandom(const Fill& fill, const OracleArgs& args);

}  // namespace opkit::ops::random
